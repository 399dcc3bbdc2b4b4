/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_time.h"

#include "tools/definition_text.h"
#include "wire/json.h"

/* A number of `digits` digits. */
static bool take_number(hub_text_reader *r, int digits, int least, int most, int *ret_number)
{
    int number = 0;
    for (int i = 0; i < digits; i++) {
        uint32_t c = hub_text_next(r);
        if (c < '0' || c > '9') {
            return false;
        }
        number = number * 10 + ((int)c - '0');
    }
    *ret_number = number;
    return number >= least && number <= most;
}

static int days_of(int year, int month)
{
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return DAYS[month - 1] + (month == 2 && is_leap);
}

static bool take_date(hub_text_reader *r)
{
    int year;
    int month;
    int day;
    return take_number(r, 4, 0, 9999, &year) && hub_text_take(r, "-") &&
           take_number(r, 2, 1, 12, &month) && hub_text_take(r, "-") &&
           take_number(r, 2, 1, days_of(year, month), &day);
}

static bool take_clock(hub_text_reader *r)
{
    int number;
    return take_number(r, 2, 0, 23, &number) && hub_text_take(r, ":") &&
           take_number(r, 2, 0, 59, &number);
}

static bool take_seconds(hub_text_reader *r)
{
    int number;
    if (!hub_text_take(r, ":") || !take_number(r, 2, 0, 59, &number)) {
        return false;
    }
    if (!hub_text_take(r, ".")) {
        return true;
    }
    bool has_digit = false;
    while (hub_text_take(r, "0123456789")) {
        has_digit = true;
    }
    return has_digit;
}

bool hub_definition_is_time(hub_str raw)
{
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        return false;
    }
    hub_text_reader r = hub_text_read(raw);
    return take_date(&r) && hub_text_take(&r, "T") && take_clock(&r) && take_seconds(&r) &&
           (hub_text_take(&r, "Z") || (hub_text_take(&r, "+-") && take_clock(&r))) &&
           hub_text_next(&r) == HUB_TEXT_END;
}
