package lib.settings_test

import data.lib.fixtures
import data.lib.settings
import rego.v1

test_complete_settings_have_no_problem if settings.problems == {} with data.settings as fixtures.settings

test_the_settings_of_this_folder_are_complete if settings.problems == {}

test_a_missing_setting_is_named if {
	problems := settings.problems with data.settings as fixtures.settings_without_limit
	problems == {"waiting": {"policy setting settings.waiting.max_seconds must be given, as number"}}
}

test_a_setting_of_the_wrong_type_is_named if {
	problems := settings.problems with data.settings as object.union(fixtures.settings, {"images": {"trusted": "registry.test"}})
	problems == {"images": {"policy setting settings.images.trusted must be given, as array"}}
}

test_absent_settings_are_all_named if {
	problems := settings.problems with data.settings as {}
	count(union({texts | some texts in problems})) == 11
}
