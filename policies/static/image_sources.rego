# METADATA
# title: Image sources
# description: Only images from registries that we scan and control may be named in a pipeline.
package static.image_sources

import data.lib.image
import data.lib.pipeline
import rego.v1

deny contains text if {
	some stage in pipeline.stages
	some source in image.images(stage)
	text := refusal(source, pipeline.label(stage))
}

deny contains text if {
	some expected in pipeline.expected_artifacts
	some source in image.in_artifacts([expected[key] | some key in ["matchArtifact", "defaultArtifact"]])
	text := refusal(source, "an expected artifact")
}

deny contains text if {
	some trigger in pipeline.as_list(pipeline.get(pipeline.document, "triggers", []))
	trigger.type == "docker"
	text := refusal(concat("/", [trigger.registry, trigger.repository]), "a docker trigger")
}

refusal(source, where) := text if {
	not image.canonical(source)
	text := sprintf(
		"%s uses image '%s', whose expression may choose the registry; write the registry out, one of: %s",
		[where, source, image.trusted_text],
	)
} else := text if {
	not image.is_trusted(source)
	text := sprintf(
		"%s uses image '%s', whose registry is not trusted; take it from one of: %s",
		[where, source, image.trusted_text],
	)
}
