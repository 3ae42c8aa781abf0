# METADATA
# title: Container images and the registries they come from
# description: The checks at save time and at run time must read image names alike and trust the same registries.
package lib.image

import data.lib.manifest
import data.lib.pipeline
import data.settings.images as settings
import rego.v1

# holder is a stage of a definition, or the context of a running stage.
images(holder) := {trim_space(image) |
	some image in ((in_manifests(holder) | in_clusters(holder)) | in_artifacts(required(holder)))
	is_string(image)
	image != ""
}

in_manifests(holder) := {image |
	some document in manifest.manifests(holder)
	some image in manifest.images(document)
}

in_clusters(holder) := {image |
	some cluster in array.concat([holder], pipeline.as_list(pipeline.get(holder, "clusters", [])))
	some described in array.concat([cluster], pipeline.as_list(pipeline.get(cluster, "containers", [])))
	image := described_image(described)
}

described_image(described) := concat("/", [registry, repository]) if {
	registry := described.imageDescription.registry
	repository := described.imageDescription.repository
} else := described.imageDescription.imageId if {
	described.imageDescription
} else := described.imageId if {
	described.cloudProvider == "titus"
}

required(holder) := [required.artifact |
	some required in pipeline.as_list(pipeline.get(holder, "requiredArtifacts", []))
]

in_artifacts(artifacts) := {image |
	some artifact in artifacts
	artifact.type == "docker/image"
	image := [text | some key in ["reference", "name"]; text := artifact[key]; is_string(text); text != ""][0]
}

is_trusted(image) if {
	name := canonical(image)
	some start in trusted_starts
	startswith(name, start)
}

is_trusted(image) if {
	not pipeline.is_expression(image)
	canonical(image) in settings.trusted
}

# A source that names one repository may be followed by a tag or digest; after a bare host that would be a port.
trusted_starts := {concat("", [trim_suffix(source, "/"), mark]) |
	some source in settings.trusted
	some mark in {true: ["/", ":", "@"], false: ["/"]}[contains(source, "/")]
}

# The full name that a short one stands for, by the rules of the container runtimes: docker.io unless the first
# part looks like a host, library/ when only one part is left. Of an expression only the literal text before it
# counts, and that must reach past the first slash, or else the expression could still choose the registry.
canonical(image) := named(split(literal, "/")) if {
	literal := regex.split(`\$\{|\{\{|\{%`, image)[0]
	readable(image, literal)
}

readable(image, _) if not pipeline.is_expression(image)

readable(_, literal) if contains(literal, "/")

named(parts) := in_registry(lower(parts[0]), array.slice(parts, 1, count(parts))) if {
	is_host(parts)
} else := in_registry("docker.io", parts)

is_host(parts) if {
	count(parts) > 1
	some mark in [".", ":"]
	contains(parts[0], mark)
}

is_host(parts) if {
	count(parts) > 1
	parts[0] == "localhost"
}

in_registry(host, path) := concat("/", ["docker.io", "library", path[0]]) if {
	host in docker_hub
	count(path) == 1
} else := concat("/", array.concat(["docker.io"], path)) if {
	host in docker_hub
} else := concat("/", array.concat([host], path))

docker_hub := {"docker.io", "index.docker.io", "registry-1.docker.io"}

trusted_text := concat(", ", settings.trusted)
