# METADATA
# title: Readable definition
# description: What policies cannot read they cannot refuse, so a definition of another shape is refused for its shape.
package static.readable_definition

import data.lib.manifest
import data.lib.pipeline
import rego.v1

deny contains text if {
	some wrapper in ["new", "pipeline"]
	is_other(input, wrapper, ["object"])
	text := sprintf("input.%s cannot be read; send a pipeline there, as an object", [wrapper])
}

deny contains "the input has stages that nobody reads; send the pipeline as input.new" if {
	is_other(input, "stages", [])
	not pipeline.is_bare
}

deny contains text if {
	is_other(pipeline.document, "stages", ["array"])
	text := sprintf("the stages of pipeline '%s' cannot be read; write a list of objects", [pipeline.name])
}

deny contains text if {
	is_array(pipeline.document.stages)
	some position, stage in pipeline.document.stages
	not is_object(stage)
	text := sprintf("stage %d of the list cannot be read; write an object", [position + 1])
}

deny contains text if {
	some stage in pipeline.stages
	some key, types in members
	is_other(stage, key, types)
	text := sprintf("%s has a member '%s' that cannot be read; write it as: %s", [
		pipeline.label(stage),
		key,
		concat(" or ", types),
	])
}

deny contains text if {
	some stage in pipeline.stages
	some cluster in pipeline.as_list(pipeline.get(stage, "clusters", []))
	is_odd(cluster)
	text := sprintf("%s has a cluster that cannot be read; write an object whose account is a text", [pipeline.label(stage)])
}

deny contains text if {
	some stage in pipeline.stages
	manifest.is_unreadable(stage)
	text := sprintf(
		"%s has a manifest that cannot be read; write manifests as objects, without expressions for kind, spec or containers",
		[pipeline.label(stage)],
	)
}

deny contains text if {
	some stage in pipeline.stages
	some key, value in stage
	pipeline.is_expression(stage_expression(key, value))
	text := sprintf("%s has an expression for its member '%s'; write it out", [pipeline.label(stage), key])
}

stage_expression(key, value) := value if {
	key in ["type", "alias"]
} else := key

deny contains text if {
	is_other(pipeline.document.config, "stages", ["array"])
	text := sprintf("config.stages of pipeline '%s' cannot be read; write a list of objects", [pipeline.name])
}

deny contains text if {
	is_array(pipeline.document.config.stages)
	some position, stage in pipeline.document.config.stages
	not is_object(stage)
	text := sprintf("stage %d of config.stages cannot be read; write an object", [position + 1])
}

# Injected stages run elsewhere than they say.
deny contains text if {
	some stage in pipeline.as_list(pipeline.get(pipeline.document, ["config", "stages"], []))
	not pipeline.get(stage, "inject", null) in [null, {}]
	text := sprintf("%s is injected, so that its place cannot be read; name its predecessors in dependsOn", [pipeline.label(stage)])
}

deny contains text if {
	some key in ["triggers", "expectedArtifacts"]
	not pipeline.get(pipeline.document, ["config", "configuration", key], null) in [null, []]
	text := sprintf("pipeline '%s' has %s in config.configuration that nobody reads; write them in %s", [pipeline.name, key, key])
}

deny contains text if {
	some place in [["pipeline", "stages"], ["template", "stages"], ["anyMap", "stages"], ["config", "partials"], ["config", "modules"]]
	not pipeline.get(pipeline.document, place, null) in [null, []]
	text := sprintf("pipeline '%s' has stages in %s that nobody reads; write them in stages", [pipeline.name, concat(".", place)])
}

# Its resources deploy without any stage.
deny contains "a managed delivery config cannot be read; only pipelines are judged" if {
	some path in [["environments"], ["new", "environments"], ["pipeline", "environments"]]
	not is_null(pipeline.get(input, path, null))
}

deny contains "a managed delivery config cannot be read; only pipelines are judged" if {
	not is_null(pipeline.get(input, "deliveryConfig", null))
}

members := {
	"type": ["string"],
	"alias": ["string"],
	"account": ["string", "number"],
	"credentials": ["string", "number"],
	"clusters": ["array"],
}

is_odd(cluster) if not is_object(cluster)

is_odd(cluster) if {
	some key in ["account", "credentials"]
	is_other(cluster, key, members[key])
}

# The orchestrator treats null like an absent member.
is_other(holder, key, types) if {
	given := holder[key]
	not is_null(given)
	not type_name(given) in types
}
