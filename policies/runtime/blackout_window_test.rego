package runtime.blackout_window_test

import data.runtime.blackout_window
import rego.v1

# Milliseconds of a local wall-clock time with its offset from UTC.
at(text) := time.parse_rfc3339_ns(text) / 1000000

reasons(window, start) := denied if {
	denied := blackout_window.deny with input as {"application": "shop", "startTime": at(start)}
		with data.settings.blackouts as [window]
}

closed(window, start) if count(reasons(window, start)) == 1

open(window, start) if reasons(window, start) == set()

friday := {"name": "friday", "days": ["Friday"], "from": "16:00", "to": "24:00", "time_zone": "Europe/Berlin"}

night := {"name": "night", "days": ["Friday"], "from": "22:00", "to": "06:00", "time_zone": "Europe/Berlin"}

test_inside_the_window_is_denied if {
	reasons(friday, "2024-06-14T16:00:00+02:00") == {"blackout window 'friday' (16:00 to 24:00, Europe/Berlin) is open; start again after it ends"}
	closed(friday, "2024-06-14T23:59:59+02:00")
}

test_outside_the_window_is_allowed if {
	open(friday, "2024-06-14T15:59:59+02:00")
	open(friday, "2024-06-15T00:00:00+02:00")
	open(friday, "2024-06-13T17:00:00+02:00")
}

test_hours_are_those_of_the_zone if {
	closed(object.union(friday, {"time_zone": "America/New_York"}), "2024-06-14T22:00:00+02:00")
	open(object.union(friday, {"time_zone": "America/New_York"}), "2024-06-14T21:59:00+02:00")
}

test_a_window_over_midnight_belongs_to_the_day_it_began if {
	closed(night, "2024-06-14T22:00:00+02:00")
	closed(night, "2024-06-15T05:59:00+02:00")
	open(night, "2024-06-15T06:00:00+02:00")
	open(night, "2024-06-14T05:00:00+02:00")
	open(night, "2024-06-15T22:00:00+02:00")
}

test_a_window_that_ends_when_it_begins_lasts_a_day if {
	window := object.union(friday, {"from": "12:00", "to": "12:00"})
	open(window, "2024-06-14T11:59:00+02:00")
	closed(window, "2024-06-14T12:00:00+02:00")
	closed(window, "2024-06-15T11:59:00+02:00")
	open(window, "2024-06-15T12:00:00+02:00")
}

# Clocks in Berlin went from 02:00 to 03:00 on 2024-03-31 and from 03:00 back to 02:00 on 2024-10-27.
test_the_wall_clock_counts_when_the_clocks_change if {
	window := {"name": "night", "from": "02:30", "to": "03:30", "time_zone": "Europe/Berlin"}
	open(window, "2024-03-31T01:59:00+01:00")
	closed(window, "2024-03-31T03:00:00+02:00")
	open(window, "2024-03-31T03:30:00+02:00")
	closed(window, "2024-10-27T02:30:00+02:00")
	open(window, "2024-10-27T02:00:00+01:00")
	closed(window, "2024-10-27T02:30:00+01:00")
}

test_the_day_before_is_right_across_a_short_day if {
	saturday := object.union(night, {"days": ["Saturday"]})
	closed(saturday, "2024-03-31T05:59:00+02:00")
	sunday := object.union(night, {"days": ["Sunday"], "from": "23:30", "to": "00:30"})
	closed(sunday, "2024-10-28T00:15:00+01:00")
	open(sunday, "2024-10-29T00:15:00+01:00")
}

test_dates_limit_a_window if {
	freeze := {
		"name": "freeze",
		"from": "22:00",
		"to": "02:00",
		"first_date": "2026-12-21",
		"last_date": "2027-01-03",
		"time_zone": "UTC",
	}
	open(freeze, "2026-12-21T01:00:00Z")
	closed(freeze, "2026-12-21T22:00:00Z")
	closed(freeze, "2027-01-01T01:00:00Z")
	closed(freeze, "2027-01-04T01:00:00Z")
	open(freeze, "2027-01-04T22:00:00Z")
}

test_a_window_may_concern_some_applications_only if {
	closed(object.union(friday, {"applications": ["shop"]}), "2024-06-14T17:00:00+02:00")
	open(object.union(friday, {"applications": ["search"]}), "2024-06-14T17:00:00+02:00")
	closed(object.union(friday, {"applications": ["Shop"]}), "2024-06-14T17:00:00+02:00")
}

test_without_application_the_general_windows_hold if {
	count(blackout_window.deny) == 1 with input as {"startTime": at("2024-06-14T17:00:00+02:00")}
		with data.settings.blackouts as [friday]
}

test_without_start_the_present_moment_counts if {
	count(blackout_window.deny) == 1 with input as {} with data.settings.blackouts as [friday]
		with time.now_ns as time.parse_rfc3339_ns("2024-06-14T17:00:00+02:00")
}

test_an_unreadable_start_is_denied if {
	reason := "the start time is no number of milliseconds; send startTime as epoch milliseconds"
	blackout_window.deny == {reason} with input as {"startTime": "yesterday"} with data.settings.blackouts as [friday]
	blackout_window.deny == set() with input as {"startTime": "yesterday"} with data.settings.blackouts as []
}

test_an_unreadable_window_is_denied if {
	every fault in [
		{"days": ["Fri"]},
		{"from": "24:00"},
		{"from": "4pm"},
		{"to": "24:01"},
		{"to": "12:60"},
		{"first_date": "21.12.2026"},
		{"last_date": "2026-13-01"},
		{"days": []},
		{"days": null},
		{"applications": []},
		{"applications": "shop"},
		{"applications": [7]},
	] {
		blackout_window.deny == {"blackout window 'friday' cannot be read; correct its days, times, dates, time zone or applications"} with input as {"startTime": at("2024-06-13T17:00:00+02:00")}
			with data.settings.blackouts as [object.union(friday, fault)]
	}
}

test_a_window_without_a_name_is_still_reported if {
	reasons(object.remove(friday, ["name", "time_zone"]), "2024-06-13T17:00:00+02:00") == {"blackout window 'without a name' cannot be read; correct its days, times, dates, time zone or applications"}
}

test_a_window_that_is_none_is_denied if {
	every window in ["friday", null, 7, ["friday"]] {
		count(reasons(window, "2024-06-13T17:00:00+02:00")) == 1
	}
}

test_missing_settings_are_denied if {
	blackout_window.deny == {"policy setting settings.blackouts must be given, as array"} with input as {} with data.settings as {}
}

test_the_windows_of_this_folder_can_be_read if {
	every window in data.settings.blackouts { blackout_window.is_readable(window) }
}
