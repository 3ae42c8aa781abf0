# METADATA
# title: Kubernetes manifests inside a stage
# description: Stages hold manifests under several keys, in lists and as patches; policies see one flat list.
package lib.manifest

import data.lib.pipeline
import rego.v1

# holder is a stage of a definition, or the context of a running stage.
manifests(holder) := [manifest |
	is_object(holder)
	some key in ["manifests", "manifest", "patchBody"]
	some manifest in listed(pipeline.get(holder, key, []))
	is_object(manifest)
]

# Lists in lists are opened three deep. What is deeper is unreadable.
listed(value) := [manifest |
	some outer in pipeline.as_list(value)
	some inner in pipeline.as_list(outer)
	some found in pipeline.as_list(inner)
	some item in expanded(found)
	some manifest in expanded(item)
]

# What cannot be read is refused, or nothing would be found in it. An expression may become anything, and the
# orchestrator evaluates those in the names of members too.
is_unreadable(holder) if {
	is_object(holder)
	some key in ["manifests", "manifest", "patchBody"]
	some manifest in listed(pipeline.get(holder, key, []))
	not is_object(manifest)
	not manifest in [null, ""]
}

is_unreadable(holder) if {
	some manifest in manifests(holder)
	is_opaque(manifest)
}

# A list in a list in a list.
is_opaque(manifest) if {
	endswith(pipeline.as_text(manifest.kind), "List")
	is_array(manifest.items)
}

is_opaque(manifest) if {
	some key in ["kind", "apiVersion", "items", "op", "path"]
	pipeline.is_expression(manifest[key])
}

# A list that is written as an object: {"0": {...}, "1": {...}}.
is_opaque(manifest) if {
	some key, _ in manifest
	regex.match(`^[0-9]+$`, key)
}

is_opaque(manifest) if {
	given := pipeline.get(manifest, "kind", null)
	not type_name(given) in ["string", "null"]
}

is_opaque(manifest) if {
	some path in structure
	value := pipeline.get(manifest, path, null)
	is_closed(value)
}

is_opaque(manifest) if {
	some path in pod_paths
	some key in container_lists
	value := pipeline.get(manifest, array.concat(path, [key]), null)
	not is_container_list(value)
}

# An operation of a JSON patch.
is_opaque(operation) if {
	is_string(operation.path)
	pipeline.is_expression(operation.value)
	holds_structure(operation.path)
}

is_opaque(operation) if {
	is_string(operation.path)
	walk(operation.value, [place, value])
	pipeline.is_expression(value)
	holds_structure(concat("/", ["", concat("/", [pipeline.as_text(part) | some part in place])]))
	count(place) > 0
}

holds_structure(path) if {
	regex.match(`(^|/)(spec|template|jobTemplate|metadata|annotations|((initC|ephemeralC|c)ontainers(/[0-9-]+)?))?$`, path)
}

structure := {array.slice(path, 0, length) |
	some path in array.concat(pod_paths, [["metadata", "annotations"]])
	some length in numbers.range(0, count(path))
}

is_closed(value) if pipeline.is_expression(value)

is_closed(value) if is_array(value)

is_closed(value) if {
	is_object(value)
	some key, _ in value
	pipeline.is_expression(key)
}

is_container_list(null)

is_container_list(list) if {
	is_array(list)
	every container in list {
		is_object(container)
		not is_closed(container)
		type_name(pipeline.get(container, "image", null)) in ["string", "null"]
	}
}

container_lists := ["containers", "initContainers", "ephemeralContainers"]

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
	pod := pipeline.get(manifest, path, {})
	some key in container_lists
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
	pipeline.as_text(pipeline.get(manifest, "kind", "manifest")),
	" '",
	pipeline.as_text(pipeline.get(manifest, ["metadata", "name"], "without a name")),
	"'",
])

annotation(manifest, key) := lower(pipeline.as_text(manifest.metadata.annotations[key]))
