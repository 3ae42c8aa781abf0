# METADATA
# title: Wait time
# description: A forgotten long wait holds a pipeline, its lock and an execution slot for hours.
package static.wait_time

import data.lib.pipeline
import data.settings.waiting as settings
import rego.v1

deny contains text if {
	some stage in pipeline.stages
	waited := pipeline.get(stage, "waitTime", null)
	not waited in [null, ""]
	text := refusal(pipeline.label(stage), waited)
}

refusal(label, waited) := text if {
	seconds(waited) > settings.max_seconds
	text := sprintf("%s waits %v seconds; wait at most %v", [label, seconds(waited), settings.max_seconds])
} else := text if {
	pipeline.is_expression(waited)
	not settings.allow_expressions
	text := sprintf(
		"%s takes its wait time from '%s', which is unknown until it runs; write at most %v seconds",
		[label, waited, settings.max_seconds],
	)
} else := text if {
	not pipeline.is_expression(waited)
	not seconds(waited)
	text := sprintf("%s has the wait time %v; write a whole number of seconds, at most %v", [
		label,
		json.marshal(waited),
		settings.max_seconds,
	])
}

# The orchestrator's own editor saves a number, hand-written definitions often a string.
seconds(waited) := waited if {
	is_number(waited)
} else := pipeline.whole_number(waited)
