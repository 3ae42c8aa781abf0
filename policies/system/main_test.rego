package system_test

import data.lib.fixtures
import data.system
import rego.v1

test_allows_what_no_policy_denies if {
	body := fixtures.new_with([{"type": "wait", "waitTime": "30"}])
	system.main == {"allow": true, "deny": []} with input as body with data.settings as fixtures.settings
}

test_gathers_the_reasons_of_all_static_policies_in_order if {
	body := fixtures.new_with([
		{"type": "wait", "name": "Soak", "waitTime": 7200},
		{"type": "upsertLoadBalancer", "name": "Open", "loadBalancers": [{"name": "web"}]},
	])
	system.main == {"allow": false, "deny": [
		"stage 'Open' opens load balancer 'web' to the internet; make it internal",
		"stage 'Soak' waits 7200 seconds; wait at most 3600",
	]} with input as body with data.settings as fixtures.settings
}

test_answers_for_any_input if {
	every body in [{}, [], "text", null, 0] {
		system.main.allow == true with input as body with data.settings as fixtures.settings
	}
}
