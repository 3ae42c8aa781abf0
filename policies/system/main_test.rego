package system_test

import data.lib.fixtures
import data.system
import rego.v1

test_allows_what_no_policy_denies if {
	system.main == {"allow": true, "deny": []} with data.static as {"one": {"deny": set()}, "two": {"deny": set()}}
}

test_gathers_the_reasons_of_all_static_policies_in_order if {
	static := {"one": {"deny": {"wait less", "open nothing"}}, "two": {"deny": {"ask somebody", "wait less"}}}
	system.main == {"allow": false, "deny": ["ask somebody", "open nothing", "wait less"]} with data.static as static
}

test_answers_for_any_input if {
	every body in [{}, [], "text", null, 0] {
		system.main.allow == true with input as body with data.settings as fixtures.settings
	}
}
