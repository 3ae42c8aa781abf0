# METADATA
# title: The pipeline definition under judgment
# description: Callers wrap the same definition differently (new, pipeline, bare); policies read it here.
package lib.pipeline

import rego.v1

document := input.new if {
	is_object(input.new)
} else := input.pipeline if {
	is_object(input.pipeline)
} else := input if {
	is_array(input.stages)
	not input.app
	not running
}

# The body of a runtime check also carries stages at its root, and is no definition.
running if input.executionId

running if input.payloadConstraint

# A stage that this very save removes is still listed, with the status "deleted".
stages := [stage |
	some stage in as_list(object.get(document, "stages", []))
	is_object(stage)
	object.get(stage, "stageStatus", "") != "deleted"
]

name := document.name if {
	is_string(document.name)
} else := "without a name" if {
	document
}

label(stage) := concat("", ["stage '", stage.name, "'"]) if {
	is_string(stage.name)
	trim_space(stage.name) != ""
} else := concat("", ["stage ", ref(stage), " (", type(stage), ", no name)"])

type(stage) := as_text(object.get(stage, "type", "no type"))

ref(stage) := as_text(object.get(stage, "refId", "without refId"))

requisites(stage) := [as_text(earlier) |
	some earlier in as_list(object.get(stage, "requisiteStageRefIds", []))
]

# Some versions of the storage service serialise members that they do not model under anyMap.
expected_artifacts := as_list(object.get(
	document,
	"expectedArtifacts",
	object.get(document, ["anyMap", "expectedArtifacts"], []),
))

is_expression(text) if {
	is_string(text)
	contains(text, "${")
}

as_list(value) := value if {
	is_array(value)
} else := [] if {
	is_null(value)
} else := [value]

as_text(value) := value if {
	is_string(value)
} else := format_int(value, 10) if {
	is_number(value)
} else := json.marshal(value)

# Undefined for any other text; to_number alone would raise there.
whole_number(text) := number_of(trim_left(trim_space(text), "0")) if {
	is_string(text)
	trim_space(text) != ""
	trim(trim_space(text), "0123456789") == ""
}

number_of("") := 0

number_of(digits) := to_number(digits) if digits != ""
