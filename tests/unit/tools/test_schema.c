/* SPDX-License-Identifier: Apache-2.0 */
/* Every keyword with values that fit and values that do not, and the exact error text. */
#include "schema_cases.h"

typedef struct validation_case {
    const char *schema;
    const char *value;
    const char *error; /* NULL: the value fits */
} validation_case;

static void check_case(const validation_case *row)
{
    hub_error error = {.text = ""};
    hub_str text = quoted(row->schema);
    hub_str value = quoted(row->value);
    hub_schema *schema = NULL;
    if (hub_json_check(text, NULL, &error) != HUB_OK ||
        hub_json_check(value, NULL, &error) != HUB_OK ||
        hub_schema_compile(text, &schema, &error) != HUB_OK) {
        fail_msg("%s | %s: %s", row->schema, row->value, error.text);
    }
    free_text(text); /* the schema has a copy */
    hub_err err = hub_schema_validate(schema, value, "v", &error);
    hub_err silent = hub_schema_validate(schema, value, "v", NULL);
    hub_str wanted = quoted(row->error ? row->error : "");
    bool is_good = row->error == NULL ? err == HUB_OK
                                      : err == HUB_EINVAL && error.code == HUB_EINVAL &&
                                            hub_str_is(wanted, error.text);
    if (!is_good || silent != err) {
        fail_msg("%s | %s: %s %s, wanted %s", row->schema, row->value, hub_err_name(err),
                 err ? error.text : "", row->error ? row->error : "ok");
    }
    free_text(wanted);
    free_text(value);
    hub_schema_destroy(schema);
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) {                                   \
        check_case(&(rows)[i]);                                                                    \
    }

static void test_boolean_schemas(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"true", "1", NULL},
        {"{}", "{'a':[1]}", NULL},
        {" {} ", " 1 ", NULL},
        {"false", "1", "v: is not allowed"},
        {"{'properties':{'a':false}}", "{'b':1}", NULL},
        {"{'properties':{'a':false}}", "{'a':1}", "v.a: is not allowed"},
        {"{'title':'t','format':'email','unknown':{'type':7}}", "'x'", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_type(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'type':'object'}", "{}", NULL},
        {"{'type':'object'}", "[]", "v: must be an object, is an array"},
        {"{'type':'array'}", "[]", NULL},
        {"{'type':'array'}", "{}", "v: must be an array, is an object"},
        {"{'type':'string'}", "''", NULL},
        {"{'type':'string'}", "1", "v: must be a string, is a number"},
        {"{'type':'boolean'}", "true", NULL},
        {"{'type':'boolean'}", "false", NULL},
        {"{'type':'boolean'}", "null", "v: must be a boolean, is null"},
        {"{'type':'null'}", "null", NULL},
        {"{'type':'null'}", "false", "v: must be null, is a boolean"},
        {"{'type':'number'}", "1.5", NULL},
        {"{'type':'number'}", "1", NULL},
        {"{'type':'number'}", "'1'", "v: must be a number, is a string"},
        {"{'type':'integer'}", "1", NULL},
        {"{'type':'integer'}", "-0", NULL},
        {"{'type':'integer'}", "1.0", NULL},
        {"{'type':'integer'}", "1e400", NULL},
        {"{'type':'integer'}", "1.5e1", NULL},
        {"{'type':'integer'}", "150e-1", NULL},
        {"{'type':'integer'}", "123456789012345678901234567890", NULL},
        {"{'type':'integer'}", "1.5", "v: must be an integer, is a number with a fraction"},
        {"{'type':'integer'}", "1e-1", "v: must be an integer, is a number with a fraction"},
        {"{'type':'integer'}", "{}", "v: must be an integer, is an object"},
        {"{'type':['string','null']}", "null", NULL},
        {"{'type':['string','null']}", "1", "v: must be a string or null, is a number"},
        {"{'type':['null','integer','array']}", "true",
         "v: must be an array, an integer or null, is a boolean"},
        {"{'properties':{'zone':{'items':{'type':'string'}}}}", "{'zone':['a',1]}",
         "v.zone.1: must be a string, is a number"},
    };
    CHECK_ALL(ROWS);
}

static void test_enum_and_const(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'enum':['a','b']}", "'b'", NULL},
        {"{'enum':['a','b']}", "'c'", "v: must be one of 'a', 'b'"},
        {"{'enum':['a']}", "'c'", "v: must be 'a'"},
        {"{'enum':[]}", "'c'", "v: is not allowed"},
        {"{'enum':['a']}", "'\\u0061'", NULL},
        {"{'enum':['\\u0061/']}", "'a\\/'", NULL},
        {"{'enum':[1]}", "1.0", NULL},
        {"{'enum':[1]}", "10e-1", NULL},
        {"{'enum':[0]}", "-0.0e5", NULL},
        {"{'enum':[1]}", "true", "v: must be 1"},
        {"{'enum':[0]}", "false", "v: must be 0"},
        {"{'enum':[null]}", "null", NULL},
        {"{'enum':[{'a':1,'b':[2]}]}", "{ 'b' : [ 2.0 ], '\\u0061' : 1 }", NULL},
        {"{'enum':[{'a':1}]}", "{'a':1,'b':2}", "v: must be {'a':1}"},
        {"{'enum':[[1,2]]}", "[2,1]", "v: must be [1,2]"},
        {"{'enum':['aaaaaaaaaaaaaaaaaaaa1','aaaaaaaaaaaaaaaaaaaa2','aaaaaaaaaaaaaaaaaaaa3',"
         "'aaaaaaaaaaaaaaaaaaaa4','aaaaaaaaaaaaaaaaaaaa5','aaaaaaaaaaaaaaaaaaaa6']}",
         "1",
         "v: must be one of 'aaaaaaaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaaaaaaa2', "
         "'aaaaaaaaaaaaaaaaaaaa3', 'aaaaaaaaaaaaaaaaaaaa4', \xe2\x80\xa6"},
        {"{'const':'a'}", "'a'", NULL},
        {"{'const':'a'}", "'b'", "v: must be 'a'"},
        {"{'const':100}", "1E2", NULL},
        {"{'const':9007199254740993}", "9007199254740992", "v: must be 9007199254740993"},
        {"{'const':{'a':[1,{'b':null}]}}", "{'a':[1.00,{'b':null}]}", NULL},
        {"{'const':{'a':[1,{'b':null}]}}", "{'a':[1,{'b':false}]}",
         "v: must be {'a':[1,{'b':null}]}"},
        {"{'const':[]}", "{}", "v: must be []"},
        {"{'const':'\\ud83d\\ude00'}", "'\xf0\x9f\x98\x80'", NULL},
        {"{'const':{'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7,'h':8,'i':9}}",
         "{'i':9,'h':8,'g':7,'f':6,'e':5,'d':4,'c':3,'b':2,'a':1}", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_numbers(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'minimum':5}", "5", NULL},
        {"{'minimum':5}", "'4'", NULL},
        {"{'minimum':5}", "4.999", "v: must be at least 5"},
        {"{'minimum':-5}", "-5.0", NULL},
        {"{'minimum':-5}", "-6", "v: must be at least -5"},
        {"{'minimum':-5}", "0", NULL},
        {"{'minimum':0}", "-1e-400", "v: must be at least 0"},
        {"{'exclusiveMinimum':1.5}", "1.5000000000000000000001", NULL},
        {"{'exclusiveMinimum':1.5}", "15e-1", "v: must be greater than 1.5"},
        {"{'maximum':3}", "3.0", NULL},
        {"{'maximum':3}", "3.1", "v: must be at most 3"},
        {"{'maximum':3}", "1e400", "v: must be at most 3"},
        {"{'maximum':1e400}", "1e399", NULL},
        {"{'maximum':1e400}", "1e401", "v: must be at most 1e400"},
        {"{'maximum':18446744073709551616}", "18446744073709551616", NULL},
        {"{'maximum':18446744073709551616}", "18446744073709551617",
         "v: must be at most 18446744073709551616"},
        {"{'exclusiveMaximum':0}", "-0.1", NULL},
        {"{'exclusiveMaximum':0}", "-0.0", "v: must be less than 0"},
        {"{'exclusiveMaximum':100}", "99.99", NULL},
        {"{'multipleOf':2}", "4", NULL},
        {"{'multipleOf':2}", "0", NULL},
        {"{'multipleOf':2}", "-7", "v: must be a multiple of 2"},
        {"{'multipleOf':0.01}", "19.99", NULL},
        {"{'multipleOf':0.01}", "4.35", NULL},
        {"{'multipleOf':0.01}", "4.355", "v: must be a multiple of 0.01"},
        {"{'multipleOf':0.0001}", "0.0075", NULL},
        {"{'multipleOf':1e-8}", "12391239123", NULL},
        {"{'multipleOf':1.5}", "4.5", NULL},
        {"{'multipleOf':1.5}", "4", "v: must be a multiple of 1.5"},
        {"{'multipleOf':25}", "1e2", NULL},
        {"{'multipleOf':25}", "1e1", "v: must be a multiple of 25"},
        {"{'multipleOf':7}", "700000000000000000000000000000000000007", NULL},
        {"{'multipleOf':7}", "700000000000000000000000000000000000008",
         "v: must be a multiple of 7"},
        {"{'multipleOf':0.123456789}", "1e308", "v: must be a multiple of 0.123456789"},
        {"{'multipleOf':999999999999999999}", "1999999999999999998", NULL},
        {"{'multipleOf':1234567890123456789012}", "2469135780246913578024", NULL},
        {"{'multipleOf':3000}", "9e3", NULL},
        {"{'multipleOf':3000}", "9e2", "v: must be a multiple of 3000"},
    };
    CHECK_ALL(ROWS);
}

static void test_strings(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'minLength':2}", "'ab'", NULL},
        {"{'minLength':2}", "'a'", "v: must have at least 2 characters, has 1"},
        {"{'minLength':1}", "''", "v: must have at least 1 character, has 0"},
        {"{'minLength':2.0}", "'ab'", NULL},
        {"{'minLength':2}", "1", NULL},
        {"{'maxLength':2}", "'ab'", NULL},
        {"{'maxLength':2}", "'abc'", "v: must have at most 2 characters, has 3"},
        {"{'maxLength':1e400}", "'abc'", NULL},
        {"{'maxLength':1}", "'\xf0\x9f\x98\x80'", NULL},
        {"{'maxLength':1}", "'\\ud83d\\ude00'", NULL},
        {"{'minLength':2}", "'\\uD83D\\uDE00'", "v: must have at least 2 characters, has 1"},
        {"{'maxLength':1}", "'\\ude00\\ud83d'", "v: must have at most 1 character, has 2"},
        {"{'maxLength':1}", "'\\ud83dx'", "v: must have at most 1 character, has 2"},
        {"{'maxLength':3}", "'\\n\xc3\xa9\\u0041'", NULL},
        {"{'pattern':'^[a-z]+$'}", "'abc'", NULL},
        {"{'pattern':'^[a-z]+$'}", "'abc\\n'", "v: must match the pattern '^[a-z]+$'"},
        {"{'pattern':'b'}", "'abc'", NULL},
        {"{'pattern':'b'}", "'ac'", "v: must match the pattern 'b'"},
        {"{'pattern':''}", "''", NULL},
        {"{'pattern':'b'}", "5", NULL},
        {"{'pattern':'^\\\\d$'}", "'\xd9\xa3'", "v: must match the pattern '^\\\\d$'"},
        {"{'pattern':'^\\\\p{Letter}+$'}", "'\xc3\xa9t\xc3\xa9'", NULL},
        {"{'pattern':'^\\\\s$'}", "'\\u00a0'", NULL},
        {"{'pattern':'^[\\\\s-]$'}", "'-'", NULL},
        {"{'pattern':'^\\\\S$'}", "'\\ufeff'", "v: must match the pattern '^\\\\S$'"},
        {"{'pattern':'^\\\\u0061.$'}", "'a\xf0\x9f\x98\x80'", NULL},
        {"{'pattern':'^a.$'}", "'a\\n'", "v: must match the pattern '^a.$'"},
        {"{'pattern':'^\\\\$[^]$'}", "'$x'", NULL},
        {"{'pattern':'^\\u0061$'}", "'\\u0061'", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_properties(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'properties':{'a':{'type':'string'}}}", "{'a':'x','b':1}", NULL},
        {"{'properties':{'a':{'type':'string'}}}", "[1]", NULL},
        {"{'properties':{'a':{'type':'string'}}}", "{'\\u0061':1}",
         "v.a: must be a string, is a number"},
        {"{'properties':{'a':{'type':'string'}}}", "{'a':'x','a':1}",
         "v.a: must be a string, is a number"},
        {"{'properties':{'a b':{'type':'string'}}}", "{'a b':1}",
         "v['a b']: must be a string, is a number"},
        {"{'properties':{'':{'type':'string'}}}", "{'':1}", "v['']: must be a string, is a number"},
        {"{'required':['zone','name']}", "{'zone':1,'name':2}", NULL},
        {"{'required':['zone','name']}", "{'\\u007aone':1,'n':2}", "v: 'name' is missing"},
        {"{'required':['zone']}", "7", NULL},
        {"{'required':['i']}", "{'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7,'h':8,'i':9}", NULL},
        {"{'required':['x']}", "{'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7,'h':8,'i':9}",
         "v: 'x' is missing"},
        {"{'properties':{'zone':{}},'additionalProperties':false}", "{'zone':1}", NULL},
        {"{'properties':{'zone':{}},'additionalProperties':false}", "{'zon':1}",
         "v.zon: is not known; did you mean 'zone'?"},
        {"{'properties':{'zone':{}},'additionalProperties':false}", "{'other':1}",
         "v.other: is not known; known: 'zone'"},
        {"{'properties':{'a':{},'bc':{},'d e':{}},'additionalProperties':false}", "{'other':1}",
         "v.other: is not known; known: 'a', 'bc', 'd e'"},
        {"{'properties':{'a':{},'b':{},'c':{},'d':{},'e':{},'f':{},'g':{},'h':{},'i':{}},"
         "'additionalProperties':false}",
         "{'other':1}",
         "v.other: is not known; known: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ..."},
        {"{'properties':{'a':{}},'patternProperties':{'^n':{}},'additionalProperties':false}",
         "{'other':1}", "v.other: is not known"},
        {"{'properties':{},'additionalProperties':false}", "{'other':1}", "v.other: is not known"},
        {"{'properties':{'zone':{}},'required':['zone'],'additionalProperties':false}",
         "{'Zone':1}", "v.Zone: is not known; did you mean 'zone'?"},
        {"{'properties':{'a':{}},'additionalProperties':{'type':'integer'}}", "{'a':'x','b':2}",
         NULL},
        {"{'properties':{'a':{}},'additionalProperties':{'type':'integer'}}", "{'b':'x'}",
         "v.b: must be an integer, is a string"},
        {"{'patternProperties':{'^n':{'type':'number'}},'additionalProperties':false}",
         "{'n1':1,'n2':2}", NULL},
        {"{'patternProperties':{'^n':{'type':'number'}},'additionalProperties':false}",
         "{'n1':1,'m':2}", "v.m: is not known"},
        {"{'patternProperties':{'^n':{'type':'number'},'2$':{'minimum':5}}}", "{'n2':4}",
         "v.n2: must be at least 5"},
        {"{'propertyNames':{'maxLength':3}}", "{'abc':1}", NULL},
        {"{'propertyNames':{'maxLength':3}}", "{'abcd':1}",
         "v.abcd: the name must have at most 3 characters, has 4"},
        {"{'propertyNames':{'enum':['a','b']}}", "{'\\u0062':1,'c':1}",
         "v.c: the name must be one of 'a', 'b'"},
        {"{'propertyNames':false}", "{}", NULL},
        {"{'propertyNames':false}", "{'a':1}", "v.a: the name is not allowed"},
        {"{'minProperties':1}", "{'a':1}", NULL},
        {"{'minProperties':1}", "{}", "v: must have at least 1 member, has 0"},
        {"{'maxProperties':2}", "{'a':1,'b':2}", NULL},
        {"{'maxProperties':2}", "{'a':1,'b':2,'c':3}", "v: must have at most 2 members, has 3"},
        {"{'dependentRequired':{'a':['b','c']}}", "{'x':1}", NULL},
        {"{'dependentRequired':{'a':['b','c']}}", "{'a':1,'b':1,'c':1}", NULL},
        {"{'dependentRequired':{'a':['b','c']}}", "{'a':1,'b':1}",
         "v: 'c' is missing, 'a' needs it"},
        {"{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1,'b':1}", NULL},
        {"{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}", "v: 'b' is missing"},
    };
    CHECK_ALL(ROWS);
}

static void test_arrays(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'items':{'type':'integer'}}", "[1,2]", NULL},
        {"{'items':{'type':'integer'}}", "[1,[2]]", "v.1: must be an integer, is an array"},
        {"{'items':false}", "[]", NULL},
        {"{'items':false}", "[1]", "v: must have at most 0 elements, has 1"},
        {"{'prefixItems':[{'type':'string'},{'type':'integer'}]}", "['a',1,true]", NULL},
        {"{'prefixItems':[{'type':'string'},{'type':'integer'}]}", "['a']", NULL},
        {"{'prefixItems':[{'type':'string'},{'type':'integer'}]}", "['a','b']",
         "v.1: must be an integer, is a string"},
        {"{'prefixItems':[{'type':'string'}],'items':false}", "['a',1]",
         "v: must have at most 1 element, has 2"},
        {"{'prefixItems':[{'type':'string'}],'items':{'type':'null'}}", "['a',null,1]",
         "v.2: must be null, is a number"},
        {"{'minItems':2}", "[1,2]", NULL},
        {"{'minItems':2}", "[1]", "v: must have at least 2 elements, has 1"},
        {"{'maxItems':2}", "[1,2]", NULL},
        {"{'maxItems':2}", "[1,2,3]", "v: must have at most 2 elements, has 3"},
        {"{'contains':{'const':1}}", "[2,1]", NULL},
        {"{'contains':{'const':1}}", "[2]", "v: must have at least 1 matching element, has 0"},
        {"{'contains':{'const':1},'minContains':0}", "[]", NULL},
        {"{'contains':{'const':1},'minContains':2}", "[1,1]", NULL},
        {"{'contains':{'const':1},'minContains':2}", "[1,2]",
         "v: must have at least 2 matching elements, has 1"},
        {"{'contains':{'const':1},'maxContains':1}", "[1,2]", NULL},
        {"{'contains':{'const':1},'maxContains':1}", "[1,1]",
         "v: must have at most 1 matching element, has 2"},
        {"{'minContains':3}", "[]", NULL},
        {"{'uniqueItems':true}", "[1,2,'1',true,null,[],{}]", NULL},
        {"{'uniqueItems':true}", "[1,2,1.0]", "v: elements 0 and 2 are equal"},
        {"{'uniqueItems':true}", "['a','\\u0061']", "v: elements 0 and 1 are equal"},
        {"{'uniqueItems':true}", "[{'a':1,'b':2},{'b':2,'a':1}]", "v: elements 0 and 1 are equal"},
        {"{'uniqueItems':true}", "[{'a':1},{'a':true},[1],[true],{'a':[1]}]", NULL},
        {"{'uniqueItems':true}", "[[[1]],[[1e0]]]", "v: elements 0 and 1 are equal"},
        {"{'uniqueItems':false}", "[1,1]", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_composition(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'allOf':[{'minimum':1},{'maximum':3}]}", "2", NULL},
        {"{'allOf':[{'minimum':1},{'maximum':3}]}", "4", "v: must be at most 3"},
        {"{'anyOf':[{'type':'string'},{'minimum':3}]}", "3", NULL},
        {"{'anyOf':[{'type':'string'},{'type':'null'}]}", "3",
         "v: fits none of the 2 alternatives: v: must be a string or null, is a number"},
        {"{'anyOf':[{'type':'string'},{'minimum':3}]}", "2",
         "v: fits none of the 2 alternatives; the closest: v: must be at least 3"},
        {"{'anyOf':[{'type':'string'}]}", "2", "v: must be a string, is a number"},
        {"{'properties':{'x':{'anyOf':[{'properties':{'kind':{'const':'a'}},'required':['p']},"
         "{'properties':{'kind':{'const':'b'}},'required':['q']}]}}}",
         "{'x':{'kind':'b'}}",
         "v.x: fits none of the 2 alternatives; the closest: v.x: 'q' is missing"},
        {"{'anyOf':[{'type':'object','properties':{'a':{'type':'integer'}}},{'type':'string'}]}",
         "{'a':'x'}",
         "v: fits none of the 2 alternatives; the closest: v.a: must be an integer, is a string"},
        {"{'oneOf':[{'minimum':5},{'maximum':1}]}", "6", NULL},
        {"{'oneOf':[{'minimum':5},{'maximum':7},{'type':'number'}]}", "6",
         "v: fits more than one of the alternatives (1 and 2)"},
        {"{'oneOf':[{'minimum':5},{'maximum':1}]}", "3",
         "v: fits none of the 2 alternatives; the closest: v: must be at least 5"},
        {"{'not':{'type':'string'}}", "1", NULL},
        {"{'not':{'type':'string'}}", "'a'", "v: is what the schema excludes ('not')"},
        {"{'not':{'not':{'type':'string'}}}", "'a'", NULL},
        {"{'if':{'minimum':10},'then':{'multipleOf':10},'else':{'multipleOf':3}}", "20", NULL},
        {"{'if':{'minimum':10},'then':{'multipleOf':10},'else':{'multipleOf':3}}", "6", NULL},
        {"{'if':{'minimum':10},'then':{'multipleOf':10},'else':{'multipleOf':3}}", "21",
         "v: must be a multiple of 10"},
        {"{'if':{'minimum':10},'then':{'multipleOf':10},'else':{'multipleOf':3}}", "7",
         "v: must be a multiple of 3"},
        {"{'if':{'minimum':10},'else':{'multipleOf':3}}", "11", NULL},
        {"{'then':false,'else':false}", "11", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_unevaluated(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'allOf':[{'properties':{'a':{}}}],'properties':{'b':{}},'unevaluatedProperties':false}",
         "{'a':1,'b':2}", NULL},
        {"{'allOf':[{'properties':{'a':{}}}],'properties':{'b':{}},'unevaluatedProperties':false}",
         "{'a':1,'bb':2}", "v.bb: is not known; did you mean 'b'?"},
        {"{'allOf':[{'properties':{'a':{}}},{'unevaluatedProperties':false}]}", "{'a':1}",
         "v.a: is not known"},
        {"{'anyOf':[{'properties':{'a':{'const':1}}},{'properties':{'b':{}}}],"
         "'unevaluatedProperties':false}",
         "{'a':2,'b':1}", "v.a: is not known"},
        {"{'anyOf':[{'properties':{'a':{}},'required':['z']},{'properties':{'b':{}}}],"
         "'unevaluatedProperties':false}",
         "{'a':1}", "v.a: is not known"},
        {"{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':{}}},"
         "'unevaluatedProperties':false}",
         "{'a':1,'b':2}", NULL},
        {"{'not':{'not':{'properties':{'a':{}}}},'unevaluatedProperties':false}", "{'a':1}",
         "v.a: is not known"},
        {"{'patternProperties':{'^x':{}},'unevaluatedProperties':{'type':'integer'}}",
         "{'x':'s','y':1}", NULL},
        {"{'patternProperties':{'^x':{}},'unevaluatedProperties':{'type':'integer'}}",
         "{'x':'s','y':'t'}", "v.y: must be an integer, is a string"},
        {"{'$ref':'#/$defs/d','$defs':{'d':{'properties':{'a':{}}}},"
         "'unevaluatedProperties':false}",
         "{'a':1}", NULL},
        {"{'prefixItems':[{}],'unevaluatedItems':false}", "[1]", NULL},
        {"{'prefixItems':[{}],'unevaluatedItems':false}", "[1,2]", "v.1: is not allowed"},
        {"{'contains':{'type':'string'},'unevaluatedItems':{'type':'integer'}}", "['a',1]", NULL},
        {"{'contains':{'type':'string'},'unevaluatedItems':{'type':'integer'}}", "['a',null]",
         "v.1: must be an integer, is null"},
        {"{'items':{'type':'integer'},'unevaluatedItems':false}", "[1,2]", NULL},
        {"{'dependentSchemas':{'a':{'properties':{'b':{}}}},'properties':{'a':{}},"
         "'unevaluatedProperties':false}",
         "{'a':1,'b':1}", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_draft07(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{" DRAFT07 ",'items':[{'type':'string'}],'additionalItems':{'type':'null'}}",
         "['a',null]", NULL},
        {"{" DRAFT07 ",'items':[{'type':'string'}],'additionalItems':{'type':'null'}}", "['a',1]",
         "v.1: must be null, is a number"},
        {"{" DRAFT07 ",'items':[{}],'additionalItems':false}", "[1,2]",
         "v: must have at most 1 element, has 2"},
        {"{" DRAFT07 ",'items':{},'additionalItems':false}", "[1,2]", NULL},
        {"{'additionalItems':false,'dependencies':{'a':['b']}}", "{'a':1}", NULL},
        {"{" DRAFT07 ",'dependencies':{'a':['b'],'c':{'required':['d']},'e':false}}",
         "{'a':1,'b':1,'c':1,'d':1}", NULL},
        {"{" DRAFT07 ",'dependencies':{'a':['b'],'c':{'required':['d']}}}", "{'a':1}",
         "v: 'b' is missing, 'a' needs it"},
        {"{" DRAFT07 ",'dependencies':{'a':['b'],'c':{'required':['d']}}}", "{'c':1}",
         "v: 'd' is missing"},
        {"{" DRAFT07 ",'$ref':'#/definitions/a','maximum':1,'definitions':{'a':{'minimum':3}}}",
         "5", NULL},
        {"{" DRAFT07 ",'$ref':'#/definitions/a','definitions':{'a':{'minimum':3}}}", "2",
         "v: must be at least 3"},
        {"{" DRAFT07 ",'$ref':'#a','definitions':{'x':{'$id':'#a','minimum':3}}}", "2",
         "v: must be at least 3"},
        {"{" DRAFT07 ",'contains':{'const':1},'minContains':0}", "[]",
         "v: must have at least 1 matching element, has 0"},
        {"{" DRAFT07 ",'prefixItems':[false],'unevaluatedItems':false,'$anchor':7,"
         "'dependentRequired':{'a':['b']}}",
         "[1]", NULL},
    };
    CHECK_ALL(ROWS);
}

static void test_references(void **state)
{
    (void)state;
    static const validation_case ROWS[] = {
        {"{'properties':{'kid':{'$ref':'#'}},'additionalProperties':false}", "{'kid':{'kid':{}}}",
         NULL},
        {"{'properties':{'kid':{'$ref':'#'}},'additionalProperties':false}",
         "{'kid':{'kid':{'kit':1}}}", "v.kid.kid.kit: is not known; did you mean 'kid'?"},
        {"{'$ref':'#/$defs/a~1b~0c%25','$defs':{'a/b~c%':{'type':'string'}}}", "1",
         "v: must be a string, is a number"},
        {"{'$ref':'#/prefixItems/1','prefixItems':[{},{'type':'array'}]}", "[]", NULL},
        {"{'$ref':'#/x-unknown/0/y','x-unknown':[{'y':{'type':'array'}}]}", "1",
         "v: must be an array, is a number"},
        {"{'$ref':'#here','$defs':{'x':{'$anchor':'here','type':'null'}}}", "1",
         "v: must be null, is a number"},
        {"{'$dynamicRef':'#here','$defs':{'x':{'$dynamicAnchor':'here','type':'null'}}}", "1",
         "v: must be null, is a number"},
        {"{'$dynamicRef':'#here','$defs':{'x':{'$anchor':'here','type':'null'}}}", "null", NULL},
        {"{'$ref':'#/$defs/a','maximum':5,'$defs':{'a':{'minimum':3}}}", "6",
         "v: must be at most 5"},
        {"{'$id':'https://x.org/s','$ref':'https://x.org/s#/$defs/a','$defs':{'a':{'minimum':3}}}",
         "2", "v: must be at least 3"},
        {"{'$id':'https://x.org/s','properties':{'k':{'$ref':'https://x.org/"
         "s'}},'maxProperties':1}",
         "{'k':{'a':1,'b':2}}", "v.k: must have at most 1 member, has 2"},
        {"{'$id':'https://x.org/a/b/','$ref':'../c?q#/$defs/n',"
         "'$defs':{'c':{'$id':'/a/c?q','$defs':{'n':{'type':'null'}}}}}",
         "1", "v: must be null, is a number"},
        {"{'$id':'urn:x:y','$ref':'urn:x:y#a','$defs':{'c':{'$anchor':'a','type':'null'}}}", "1",
         "v: must be null, is a number"},
        {"{'$id':'http://x/list','$ref':'tree','$defs':{"
         "'tree':{'$id':'tree','$dynamicAnchor':'n','items':{'$dynamicRef':'#n'}},"
         "'x':{'$dynamicAnchor':'n','type':'array','maxItems':1}}}",
         "[[1,2]]", "v.0: must have at most 1 element, has 2"},
        {"{'$id':'http://x/root','$ref':'list','$defs':{"
         "'list':{'$id':'list','$ref':'tree','$defs':{'x':{'$dynamicAnchor':'n','maxItems':1}}},"
         "'tree':{'$id':'tree','$dynamicAnchor':'n','items':{'$dynamicRef':'#n'}}}}",
         "[[1,2]]", "v.0: must have at most 1 element, has 2"},
    };
    CHECK_ALL(ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boolean_schemas), cmocka_unit_test(test_type),
        cmocka_unit_test(test_enum_and_const),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),         cmocka_unit_test(test_properties),
        cmocka_unit_test(test_arrays),          cmocka_unit_test(test_composition),
        cmocka_unit_test(test_unevaluated),     cmocka_unit_test(test_draft07),
        cmocka_unit_test(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
