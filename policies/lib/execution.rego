# METADATA
# title: The running pipeline under judgment
# description: The orchestrator's policy stage sends it flat, its plain-OPA plugin under pipeline; both are read here.
package lib.execution

import data.lib.pipeline
import rego.v1

document := input.pipeline if {
	is_object(input.pipeline)
} else := input

stages := [stage |
	some stage in pipeline.as_list(object.get(document, "stages", []))
	is_object(stage)
]

context(stage) := object.get(stage, "context", {})

# Who started it. Older callers send user at the root.
starter := [person(name) |
	some path in [["trigger", "user"], ["user"], ["authentication", "user"]]
	name := object.get(document, path, "")
][0]

# User names compare without regard to case.
person(name) := lower(trim_space(name)) if {
	is_string(name)
	trim_space(name) != ""
}

# Nanoseconds since 1970 at which the execution is judged: its start when it says so (in milliseconds), else now.
# Undefined when the start cannot be read, so that a policy can refuse instead of judging another moment.
judged_at_ns := start_ns if {
	start_ns := start_ms * 1000000
} else := time.now_ns() if {
	object.get(document, "startTime", null) in [null, ""]
}

start_ms := document.startTime if {
	is_number(document.startTime)
} else := pipeline.whole_number(document.startTime)
