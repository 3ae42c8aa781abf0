# METADATA
# title: Kubernetes manifests inside a stage
# description: Stages hold manifests under several keys, in lists and as patches; policies see one flat list.
package lib.manifest

import data.lib.pipeline
import rego.v1

# holder is a stage of a definition, or the context of a running stage.
manifests(holder) := [manifest |
	some key in ["manifests", "manifest", "patchBody"]
	some listed in pipeline.as_list(object.get(holder, key, []))
	some manifest in expanded(listed)
	is_object(manifest)
]

expanded(listed) := listed.items if {
	endswith(pipeline.as_text(listed.kind), "List")
	is_array(listed.items)
} else := [listed]

# Where the kinds that run containers keep their pod: Pod; Deployment, StatefulSet, DaemonSet, ReplicaSet,
# Job and custom kinds like Rollout; CronJob; PodTemplate.
pod_paths := [
	["spec"],
	["spec", "template", "spec"],
	["spec", "jobTemplate", "spec", "template", "spec"],
	["template", "spec"],
]

images(manifest) := {image |
	some path in pod_paths
	pod := object.get(manifest, path, {})
	some key in ["containers", "initContainers", "ephemeralContainers"]
	some container in pod[key]
	image := container.image
} | patched_images(manifest)

# One operation of a JSON patch: it sets an image, or whatever holds some.
patched_images(operation) := {operation.value} if {
	endswith(pipeline.as_text(operation.path), "/image")
	is_string(operation.value)
} else := {image |
	is_string(operation.path)
	walk(operation.value, [place, image])
	place[count(place) - 1] == "image"
}

label(manifest) := concat("", [
	pipeline.as_text(object.get(manifest, "kind", "manifest")),
	" '",
	pipeline.as_text(object.get(manifest, ["metadata", "name"], "without a name")),
	"'",
])

annotation(manifest, key) := lower(pipeline.as_text(manifest.metadata.annotations[key]))
