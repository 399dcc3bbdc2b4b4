/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas that are refused: the code, the place as a JSON pointer, and the reason. */
#include "schema_cases.h"

typedef struct refusal_case {
    const char *schema;
    const char *error;
} refusal_case;

static void check_refusal(const refusal_case *row)
{
    hub_error error = {.text = ""};
    hub_str text = quoted(row->schema);
    hub_str wanted = quoted(row->error);
    hub_schema *schema = NULL;
    assert_int_equal(hub_json_check(text, NULL, &error), HUB_OK);
    hub_err err = hub_schema_compile(text, &schema, &error);
    assert_null(schema);
    if (err != HUB_EINVAL || error.code != err || !hub_str_is(wanted, error.text)) {
        fail_msg("%s: %s %s, wanted %s", row->schema, hub_err_name(err), error.text, row->error);
    }
    assert_int_equal(hub_schema_compile(text, &schema, NULL), err);
    free_text(wanted);
    free_text(text);
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) {                                   \
        check_refusal(&(rows)[i]);                                                                 \
    }

static void test_operands(void **state)
{
    (void)state;
    static const refusal_case ROWS[] = {
        {"1", "the schema: must be a schema: an object, true or false"},
        {"[]", "the schema: must be a schema: an object, true or false"},
        {"{'type':'strnig'}", "/type: must be a type or a list of types"},
        {"{'type':[]}", "/type: must be a type or a list of types"},
        {"{'type':['string',1]}", "/type: must be a type or a list of types"},
        {"{'enum':{}}", "/enum: must be an array"},
        {"{'minimum':'1'}", "/minimum: must be a number"},
        {"{'exclusiveMaximum':true}", "/exclusiveMaximum: must be a number"},
        {"{'multipleOf':0}", "/multipleOf: must be greater than 0"},
        {"{'multipleOf':-1}", "/multipleOf: must be greater than 0"},
        {"{'multipleOf':'a'}", "/multipleOf: must be a number"},
        {"{'minLength':-1}", "/minLength: must be an integer of at least 0"},
        {"{'maxLength':1.5}", "/maxLength: must be an integer of at least 0"},
        {"{'minItems':'a'}", "/minItems: must be an integer of at least 0"},
        {"{'uniqueItems':1}", "/uniqueItems: must be true or false"},
        {"{'pattern':1}", "/pattern: must be a regular expression as a string"},
        {"{'required':true}", "/required: must be a list of names"},
        {"{'required':['a',1]}", "/required: must be a list of names"},
        {"{'properties':[]}", "/properties: must be an object"},
        {"{'properties':{'a':1}}", "/properties/a: must be a schema: an object, true or false"},
        {"{'properties':{'a/b~c':{'items':{'type':1}}}}",
         "/properties/a~1b~0c/items/type: must be a type or a list of types"},
        {"{'dependentRequired':{'a':'b'}}",
         "/dependentRequired: must be an object of lists of names"},
        {"{'dependentRequired':{'a':[1]}}", "/dependentRequired: must be a list of names"},
        {"{'prefixItems':{}}", "/prefixItems: must be a list of at least one schema"},
        {"{'allOf':[]}", "/allOf: must be a list of at least one schema"},
        {"{'anyOf':[{},7]}", "/anyOf/1: must be a schema: an object, true or false"},
        {"{'not':null}", "/not: must be a schema: an object, true or false"},
        {"{'items':[{}]}",
         "/items: must be a schema; for one schema per element 2020-12 has 'prefixItems'"},
        {"{" DRAFT07 ",'dependencies':{'a':1}}",
         "/dependencies/a: must be a schema: an object, true or false"},
        {"{'$schema':'http://json-schema.org/draft-04/schema#'}",
         "/$schema: this dialect is not known; 2020-12 and draft-07 are"},
        {"{'$schema':7}", "/$schema: this dialect is not known; 2020-12 and draft-07 are"},
        {"{'items':{'$schema':7}}", "/items/$schema: must be a string"},
        {"{'$id':7}", "/$id: must be a string"},
        {"{'$id':'http://x.org/#a'}", "/$id: must have no fragment"},
        {"{'$anchor':''}", "/$anchor: must be a plain name"},
        {"{'$defs':{'a':{'$dynamicAnchor':1}}}", "/$defs/a/$dynamicAnchor: must be a string"},
    };
    CHECK_ALL(ROWS);
}

static void test_patterns(void **state)
{
    (void)state;
    static const refusal_case ROWS[] = {
        {"{'pattern':'('}",
         "/pattern: the pattern ( is not usable: missing closing parenthesis at byte 1"},
        {"{'patternProperties':{'[':true}}", "/patternProperties: the pattern [ is not usable: "
                                             "missing terminating ] for character class at byte 1"},
        {"{'pattern':'(a'}",
         "/pattern: the pattern (a is not usable: missing closing parenthesis at byte 2"},
        {"{'pattern':'\\\\C'}", "/pattern: the pattern \\C is not usable: using \\C is disabled by "
                                "the application at byte 2"},
    };
    CHECK_ALL(ROWS);
}

static void test_references(void **state)
{
    (void)state;
    static const refusal_case ROWS[] = {
        {"{'$ref':7}", "/$ref: must be a string"},
        {"{'$ref':'#/$defs/a'}", "/$ref: '#/$defs/a' leads nowhere"},
        {"{'$ref':'#/$defs/a/b','$defs':{'a':{}}}", "/$ref: '#/$defs/a/b' leads nowhere"},
        {"{'$ref':'#/allOf/01','allOf':[{},{}]}", "/$ref: '#/allOf/01' leads nowhere"},
        {"{'$ref':'#/allOf/2','allOf':[{},{}]}", "/$ref: '#/allOf/2' leads nowhere"},
        {"{'$ref':'#nowhere'}", "/$ref: '#nowhere' leads nowhere"},
        {"{'$dynamicRef':'#nowhere'}", "/$dynamicRef: '#nowhere' leads nowhere"},
        {"{'$ref':'#/required/0','required':['a']}",
         "/required/0: must be a schema: an object, true or false"},
        {"{'$ref':'#/x~1y/0','x/y':[{'type':1}]}",
         "/x~1y/0/type: must be a type or a list of types"},
        {"{'properties':{'a':{'$ref':'http://x.org/a#/b'}}}",
         "/properties/a/$ref: 'http://x.org/a#/b' is another document, which is never fetched"},
        {"{'$ref':'file:///etc/passwd'}",
         "/$ref: 'file:///etc/passwd' is another document, which is never fetched"},
        {"{'$ref':'other.json'}",
         "/$ref: 'other.json' is another document, which is never fetched"},
        {"{'$id':'http://x.org/a','$ref':'b'}",
         "/$ref: 'b' is another document, which is never fetched"},
        {"{'$ref':'https://json-schema.org/draft/2020-12/schema'}",
         "/$ref: 'https://json-schema.org/draft/2020-12/schema' is another document, which is "
         "never "
         "fetched"},
        {"{'enum':[{'$anchor':'a'}],'$ref':'#a'}", "/$ref: '#a' leads nowhere"},
    };
    CHECK_ALL(ROWS);
}

/* What generators emit and nobody should be refused for. */
static void test_tolerated(void **state)
{
    (void)state;
    static const char *const SCHEMAS[] = {
        "{'$schema':'https://json-schema.org/draft/2020-12/schema'}",
        "{'$schema':'https://json-schema.org/draft/2020-12/schema#'}",
        "{'$schema':'http://json-schema.org/draft-07/schema'}",
        "{'$schema':'https://json-schema.org/draft-07/schema#'}",
        "{'properties':{'a':{'$schema':'http://json-schema.org/draft-04/schema#'}}}",
        "{'$id':'relative.json'}",
        "{'$id':''}",
        "{'$id':'http://x.org/s#'}",
        "{'type':['string','string'],'required':['a','a']}",
        "{'minLength':2.0,'maxItems':1e400}",
        "{'$comment':1,'default':{'$ref':'nowhere'},'examples':7,'format':7}",
        "{'const':{'$ref':'#/nowhere'},'enum':[{'type':7}]}",
        "{'$defs':{},'definitions':{},'properties':{}}",
        "{'$ref':'#','properties':{'\\u0000':{}}}",
    };
    for (size_t i = 0; i < sizeof SCHEMAS / sizeof *SCHEMAS; i++) {
        hub_error error = {.text = ""};
        hub_str text = quoted(SCHEMAS[i]);
        hub_schema *schema = NULL;
        if (hub_schema_compile(text, &schema, &error) != HUB_OK) {
            fail_msg("%s: %s", SCHEMAS[i], error.text);
        }
        hub_schema_destroy(schema);
        free_text(text);
    }
    hub_schema_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_tolerated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
