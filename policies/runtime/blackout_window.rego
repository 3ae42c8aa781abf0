# METADATA
# title: Blackout windows
# description: Nothing changes while nobody is there to repair it, or while a failure would cost most.
package runtime.blackout_window

import data.lib.execution
import data.lib.pipeline
import data.lib.settings
import rego.v1

deny contains text if {
	some window in windows
	is_open(window)
	text := sprintf("blackout window '%s' (%s to %s, %s) is open; start again after it ends", [
		label(window),
		window.from,
		window.to,
		window.time_zone,
	])
}

deny contains text if {
	some window in windows
	not is_readable(window)
	text := sprintf("blackout window '%s' cannot be read; correct its days, times, dates, time zone or applications", [label(window)])
}

deny contains "the start time is no number of milliseconds; send startTime as epoch milliseconds" if {
	count(windows) > 0
	not execution.judged_at_ns
}

deny contains text if some text in settings.problems.blackouts

windows := [window |
	some window in data.settings.blackouts
	concerns(window)
]

concerns(window) if not window.applications

# One whose list of applications cannot be read concerns all: it is refused.
concerns(window) if not is_listed(window.applications)

# The orchestrator knows an application by its name in any letter case.
concerns(window) if {
	some application in window.applications
	is_string(application)
	lower(application) == lower(pipeline.as_text(execution.document.application))
}

is_open(window) if {
	span := minutes(window)
	now := local[window.time_zone]
	on_day(window, now.date)
	now.minute >= span.from
	now.minute < span.to
}

# Over midnight, the day and the date are those on which the window began.
is_open(window) if {
	span := minutes(window)
	now := local[window.time_zone]
	span.from >= span.to
	on_day(window, now.date)
	now.minute >= span.from
}

is_open(window) if {
	span := minutes(window)
	now := local[window.time_zone]
	span.from >= span.to
	on_day(window, day_before(now.date))
	now.minute < span.to
}

on_day(window, date) if {
	time.weekday(noon(date)) in pipeline.get(window, "days", weekdays)
	date >= pipeline.get(window, "first_date", date)
	date <= pipeline.get(window, "last_date", date)
}

# Local date and minute of the day, by time zone. An unknown time zone is an error of the evaluation, which is
# never an allow.
local[zone] := {"date": date, "minute": (hour * 60) + minute} if {
	some window in windows
	zone := window.time_zone
	date := time.format([execution.judged_at_ns, zone, "2006-01-02"])
	[hour, minute, _] := time.clock([execution.judged_at_ns, zone])
}

# Days are counted at noon in UTC: a local day has 23 or 25 hours when the clocks change.
noon(date) := time.parse_rfc3339_ns(concat("", [date, "T12:00:00Z"]))

day_before(date) := time.format([noon(date) - (((24 * 60) * 60) * 1000000000), "UTC", "2006-01-02"])

minutes(window) := {"from": minute_of(window.from), "to": minute_of(window.to)}

minute_of(text) := (pipeline.whole_number(hour) * 60) + pipeline.whole_number(minute) if {
	[hour, minute] := split(text, ":")
	pipeline.whole_number(minute) < 60
}

is_readable(window) if {
	minutes(window).to <= 24 * 60
	minutes(window).from < 24 * 60
	time.clock([0, window.time_zone])
	every day in pipeline.get(window, "days", weekdays) { day in weekdays }
	every key in ["days", "applications"] { is_listed(pipeline.get(window, key, ["all"])) }
	every key in ["first_date", "last_date"] {
		regex.match(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`, pipeline.get(window, key, "2000-01-01"))
	}
}

is_listed(value) if {
	is_array(value)
	count(value) > 0
	every entry in value { is_string(entry) }
}

label(window) := pipeline.as_text(pipeline.get(window, "name", "without a name")) if {
	is_object(window)
} else := pipeline.as_text(window)

weekdays := ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
