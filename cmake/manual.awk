# SPDX-License-Identifier: Apache-2.0
#
# A manual page as scdoc writes it, without what `mandoc -T lint` finds in it: paragraphs with nothing in them, and a title
# in small letters. A paragraph that would begin where an indented one ends begins behind that end.

/^\.TH / {
    split($0, parts, "\"")
    sub(/"[^"]*"/, "\"" toupper(parts[2]) "\"")
}
$0 == ".P" {
    is_held = !is_heading
    next
}
/^\.RE/ {
    print
    next
}
{
    is_heading = /^\.S[HS] /
    if (is_held && !is_heading) {
        print ".P"
    }
    is_held = 0
    print
}
