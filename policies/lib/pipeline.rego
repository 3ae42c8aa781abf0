# METADATA
# title: The pipeline definition under judgment
# description: Callers wrap the same definition differently (new, pipeline, bare); policies read it here.
package lib.pipeline

import rego.v1

document := input.new if {
	is_object(input.new)
} else := input.pipeline if {
	is_object(input.pipeline)
} else := input if is_bare

is_bare if {
	is_array(input.stages)
	not is_wrapped
	not input.app
	not running
}

# A rule each, since a reference that is undefined inside a call makes "not" of that call undefined, too.
is_wrapped if is_new

is_wrapped if is_object(input.pipeline)

is_new if is_object(input.new)

# The body of a runtime check also carries stages at its root, and is no definition.
running if input.executionId

running if input.payloadConstraint

# static.readable_definition refuses the stages that are skipped here.
stages := array.concat(
	[stage |
		some stage in as_list(get(document, "stages", []))
		is_object(stage)
		not is_removed(stage)
	],
	template_stages,
)

# A pipeline made from a v1 template keeps its own stages in config.stages, with their members under config.
template_stages := [stage |
	some listed in as_list(get(document, ["config", "stages"], []))
	is_object(listed)
	stage := object.union(template_members(listed), template_wiring(listed))
]

template_members(listed) := object.union(listed, listed.config) if {
	is_object(listed.config)
} else := listed

template_wiring(listed) := {
	"type": get(listed, "type", null),
	"refId": get(listed, "id", get(listed, "refId", null)),
	"requisiteStageRefIds": get(listed, "dependsOn", []),
}

# A stage that this very save removes is still listed, with the status "deleted". The orchestrator's save task
# sets it, and overwrites the status of all stages of a known pipeline. In any other input the author wrote
# the status, and the stage runs.
is_removed(stage) if {
	stage.stageStatus == "deleted"
	not is_new
	document.id
	document.user
}

name := document.name if {
	is_string(document.name)
} else := "without a name" if {
	document
}

label(stage) := concat("", ["stage '", stage.name, "'"]) if {
	is_string(stage.name)
	trim_space(stage.name) != ""
} else := concat("", ["stage ", ref(stage), " (", type(stage), ", no name)"])

type(stage) := as_text(get(stage, "type", "no type"))

# The orchestrator runs the alias where it does not know the type, so a stage may be either.
types(stage) := {name |
	some key in ["type", "alias"]
	name := get(stage, key, null)
	is_string(name)
	name != ""
}

ref(stage) := as_text(get(stage, "refId", "without refId"))

requisites(stage) := [as_text(earlier) |
	some earlier in as_list(get(stage, "requisiteStageRefIds", []))
]

# Some versions of the storage service serialise members that they do not model under anyMap.
expected_artifacts := as_list(get(
	document,
	"expectedArtifacts",
	get(document, ["anyMap", "expectedArtifacts"], []),
))

is_expression(text) if {
	is_string(text)
	some mark in expression_marks
	contains(text, mark)
}

# The last two are those of v1 templates.
expression_marks := ["${", "{{", "{%"]

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

# The member of an object at a key or path; the default for values that are no object, on which object.get fails.
get(value, key, default_value) := object.get(value, key, default_value) if is_object(value)

get(value, _, default_value) := default_value if not is_object(value)
