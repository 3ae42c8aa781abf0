package static.wait_time_test

import data.lib.fixtures
import data.static.wait_time
import rego.v1

reasons(waited) := denied if {
	denied := wait_time.deny with input as fixtures.new_with([{"type": "wait", "name": "Soak", "waitTime": waited}])
		with data.settings as fixtures.settings
}

test_up_to_the_limit_is_allowed if {
	every waited in [30, 3600, "30", "3600", " 3600 ", "", null] { reasons(waited) == set() }
}

test_a_stage_without_wait_time_is_allowed if {
	wait_time.deny == set() with input as fixtures.new_with([{"type": "wait"}]) with data.settings as fixtures.settings
}

test_more_than_the_limit_is_denied if {
	every waited in [3601, "3601"] { reasons(waited) == {"stage 'Soak' waits 3601 seconds; wait at most 3600"} }
}

test_what_is_no_number_of_seconds_is_denied if {
	reasons("1h") == {"stage 'Soak' has the wait time \"1h\"; write a whole number of seconds, at most 3600"}
	reasons(true) == {"stage 'Soak' has the wait time true; write a whole number of seconds, at most 3600"}
}

test_an_expression_is_denied if {
	reasons("${parameters.wait}") == {concat("", [
		"stage 'Soak' takes its wait time from '${parameters.wait}', which is unknown until it runs; ",
		"write at most 3600 seconds",
	])}
}

test_an_expression_is_allowed_when_the_settings_say_so if {
	wait_time.deny == set() with input as fixtures.new_with([{"type": "wait", "waitTime": "${parameters.wait}"}])
		with data.settings.waiting as {"max_seconds": 3600, "allow_expressions": true}
}

test_other_inputs_are_not_refused if wait_time.deny == set() with input as {"app": {"name": "shop"}}
