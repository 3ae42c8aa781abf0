# METADATA
# title: No public load balancer
# description: Traffic from outside enters only through the edge that carries the firewall and the rate limits.
package static.public_load_balancer

import data.lib.manifest
import data.lib.pipeline
import data.settings.load_balancers as settings
import rego.v1

deny contains text if {
	some stage in pipeline.stages
	some balancer in public_in(stage)
	not is_at_the_edge
	text := sprintf("%s opens %s to the internet; make it internal", [pipeline.label(stage), balancer])
}

is_at_the_edge if {
	some application in settings.public_applications
	lower(pipeline.as_text(application)) == lower(pipeline.as_text(pipeline.document.application))
}

public_in(stage) := {manifest.label(document) |
	some document in manifest.manifests(stage)
	is_public(document)
} | {concat("", ["load balancer '", balancer_name(balancer), "'"]) |
	some type in pipeline.types(stage)
	type in balancer_stages
	some balancer in cloud_balancers(stage)
	not is_internal(balancer)
}

# Deck saves the second; the others are other names of the same stage.
balancer_stages := {"upsertLoadBalancer", "upsertLoadBalancers", "upsertAmazonLoadBalancer"}

is_public(document) if {
	may_be_service(document)
	opens(document.spec.type)
	not annotated(document, settings.internal_annotations)
}

is_public(document) if annotated(document, settings.public_annotations)

is_public(document) if {
	some key, _ in settings.public_annotations
	pipeline.is_expression(document.metadata.annotations[key])
}

# Operations of a JSON patch.
is_public(operation) if {
	operation.path == "/spec/type"
	opens(operation.value)
}

is_public(operation) if {
	operation.path in ["", "/", "/spec"]
	walk(operation.value, [place, value])
	place in [["type"], ["spec", "type"]]
	opens(value)
}

is_public(operation) if {
	some key, values in settings.public_annotations
	operation.path == concat("", ["/metadata/annotations/", replace(replace(key, "~", "~0"), "/", "~1")])
	is_among(operation.value, values)
}

is_public(operation) if {
	some key, values in settings.public_annotations
	operation.path in ["/metadata/annotations", "/metadata"]
	walk(operation.value, [place, value])
	place[count(place) - 1] == key
	is_among(value, values)
}

is_among(value, values) if lower(pipeline.as_text(value)) in values

is_among(value, _) if pipeline.is_expression(value)

# A patch need not name the kind of its target.
may_be_service(document) if pipeline.get(document, "kind", null) in ["Service", null]

opens("LoadBalancer")

opens(type) if pipeline.is_expression(type)

annotated(document, annotations) if {
	some key, values in annotations
	manifest.annotation(document, key) in values
}

cloud_balancers(stage) := pipeline.as_list(pipeline.get(stage, "loadBalancers", stage))

# Each cloud says it in its own way.
is_internal(balancer) if balancer.isInternal == true

is_internal(balancer) if {
	some key in ["loadBalancerType", "loadBalancingScheme"]
	startswith(upper(pipeline.as_text(balancer[key])), "INTERNAL")
}

balancer_name(balancer) := "without a name" if {
	not is_object(balancer)
} else := pipeline.as_text(pipeline.get(balancer, "name", pipeline.get(
	balancer,
	"loadBalancerName",
	"without a name",
)))
