package static.settings_complete_test

import data.lib.fixtures
import data.static.settings_complete
import rego.v1

test_a_missing_setting_refuses_every_save if {
	settings_complete.deny == {"policy setting settings.waiting.max_seconds must be given, as number"} with data.settings as fixtures.settings_without_limit
		with input as fixtures.new_with([])
}

test_complete_settings_refuse_nothing if {
	settings_complete.deny == set() with data.settings as fixtures.settings with input as fixtures.new_with([])
}

test_other_inputs_are_not_refused if {
	settings_complete.deny == set() with data.settings as fixtures.settings_without_limit with input as {"executionId": "01J0", "stages": []}
}

test_settings_of_runtime_policies_do_not_stop_a_save if {
	settings_complete.deny == set() with data.settings as object.remove(fixtures.settings, ["blackouts"])
		with input as fixtures.new_with([])
}
