package app

default allow = false

allow {
	input.user == "ann"
}

echo = input

arr = [10, 20, {"k": [1, 2]}]

mixed_set = {3, "a", [2], null, true, {"o": 1}, {1, 2}}

nested_sets = {1, {2, 3}, {"a": {4, 5}}, [{6}]}

integer_keys = {1: "a", 2: {"x": "y"}}

odd_keys = {true: "b", null: "c", [1, 2]: "d", {"o": 1}: "e", {7}: "f", 1.5: "g"}

undefined_rule {
	false
}

explicit_null = null

explicit_false = false

zero = 0

empty_text = ""

empty_object = {}

empty_array = []

empty_set = set()

key_order = {"b": 1, "a": 2, "": 3, "ä": 4, "Z": 5, "a\"b": 6, "<&>": 7, "\u2028": 8, "\u20ac": 9, "😀": 10, "\uff5e": 11}

escapes = "<a href=\"x\">&'\u2028\u2029\u007f\t\n\r\b\f\\/ é 😀"

numbers = [12345678901234567890, 1.0, 1e3, 0.1, -0, 1e100, 0.1000, -1.5e-7]

sum_big = 12345678901234567890 + 1

reasons[msg] {
	msg := input.reasons[_]
}

by_name[name] = role {
	role := input.roles[name]
}

partial_object["b"] = 2

partial_object["a"] = 1

greet(name) = sprintf("hello %s", [name])

double(x) = y {
	y := x * 2
}

deep = {"a": {"b": [{"c": {"d": 1}}]}}


numeric_text = {"1": "text key"}

both_keys = {1: "number", "1": "text"}

times_a_million = input.n * 1000000
