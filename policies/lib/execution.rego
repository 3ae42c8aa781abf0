# METADATA
# title: The running pipeline under judgment
# description: The orchestrator's policy stage sends it flat, its plain-OPA plugin under pipeline; both are read here.
package lib.execution

import data.lib.pipeline
import rego.v1

# The author of a policy stage can add a member "pipeline" to its payload. It must not replace the data of the
# stage itself.
document := input if {
	pipeline.running
} else := input.pipeline if {
	is_object(input.pipeline)
} else := input

stages := [stage |
	some stage in pipeline.as_list(pipeline.get(document, "stages", []))
	is_object(stage)
]

# A payload that is made of expressions holds a text where a list was meant. What cannot be read is refused,
# or nothing would be found in it.
unreadable contains "the stages of the execution cannot be read; send a list of objects, each with its context as an object" if {
	not is_readable(pipeline.get(document, "stages", []))
}

is_readable(null)

is_readable(list) if {
	is_array(list)
	every stage in list {
		is_object(stage)
		type_name(pipeline.get(stage, "context", null)) in ["object", "null"]
	}
}

context(stage) := value if {
	value := pipeline.get(stage, "context", {})
	is_object(value)
} else := {}

# Who started it. Older callers send user at the root.
starter := [person(name) |
	some path in [["trigger", "user"], ["user"], ["authentication", "user"]]
	name := pipeline.get(document, path, "")
][0]

# User names compare without regard to case.
person(name) := lower(trim_space(name)) if {
	is_string(name)
	trim_space(name) != ""
}

# Nanoseconds since 1970 at which the execution is judged: its start when it says so (in milliseconds), else
# now. Undefined when the start cannot be read, so that a policy can refuse instead of judging another moment:
# seconds would be in 1970, and nanoseconds are beyond every calendar. The bounds are in the years 2001 and
# 2255.
judged_at_ns := start_ms * 1000000 if {
	start_ms >= 1000000000000
	start_ms < 9000000000000
} else := time.now_ns() if {
	pipeline.get(document, "startTime", null) in [null, ""]
}

start_ms := document.startTime if {
	is_number(document.startTime)
} else := pipeline.whole_number(document.startTime)
