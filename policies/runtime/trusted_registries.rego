# METADATA
# title: Trusted registries
# description: What really runs is known only now, after expressions, triggers and artifacts were resolved.
package runtime.trusted_registries

import data.lib.execution
import data.lib.image
import data.lib.manifest
import data.lib.pipeline
import data.lib.settings
import rego.v1

deny contains text if {
	some source, where in sources
	some place in where
	not image.is_trusted(source)
	text := sprintf("image '%s' (%s) is not from a trusted registry; take it from one of: %s", [
		source,
		place,
		image.trusted_text,
	])
}

deny contains text if some text in settings.problems.images

deny contains text if some text in execution.unreadable

deny contains text if {
	some stage in execution.stages
	manifest.is_unreadable(execution.context(stage))
	text := sprintf("%s has a manifest that cannot be read; send manifests as objects", [pipeline.label(stage)])
}

deny contains "imageIds cannot be read; send a list of texts, or one text with commas" if {
	some id in unread
	not is_null(id)
}

unread contains id if {
	some id in image_ids
	not is_string(id)
}

unread contains execution.document.imageIds if not image_ids

sources[source] contains pipeline.label(stage) if {
	some stage in execution.stages
	some source in image.images(execution.context(stage))
}

sources[source] contains pipeline.label(stage) if {
	some stage in execution.stages
	some holder in [execution.context(stage), pipeline.get(stage, "outputs", {})]
	some source in image.in_artifacts(pipeline.as_list(pipeline.get(holder, "artifacts", [])))
}

sources[source] contains "the trigger" if {
	some source in image.in_artifacts(pipeline.as_list(pipeline.get(execution.document, ["trigger", "artifacts"], [])))
}

sources[source] contains "imageIds" if {
	some source in image_ids
	is_string(source)
	trim_space(source) != ""
}

# Older callers send the list as text, as JSON or with commas.
image_ids := ids if {
	ids := execution.document.imageIds
	is_array(ids)
} else := json.unmarshal(ids) if {
	ids := execution.document.imageIds
	is_string(ids)
	startswith(ids, "[")
	json.is_valid(ids)
} else := [trim_space(id) | some id in split(execution.document.imageIds, ",")] if {
	is_string(execution.document.imageIds)
}
