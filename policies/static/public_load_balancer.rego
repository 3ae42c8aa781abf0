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
	stage.type in balancer_stages
	some balancer in cloud_balancers(stage)
	not is_internal(balancer)
}

# Deck saves the second; the others are other names of the same stage.
balancer_stages := {"upsertLoadBalancer", "upsertLoadBalancers", "upsertAmazonLoadBalancer"}

is_public(document) if {
	document.kind == "Service"
	document.spec.type == "LoadBalancer"
	not annotated(document, settings.internal_annotations)
}

is_public(document) if annotated(document, settings.public_annotations)

annotated(document, annotations) if {
	some key, values in annotations
	manifest.annotation(document, key) in values
}

cloud_balancers(stage) := pipeline.as_list(object.get(stage, "loadBalancers", stage))

# Each cloud says it in its own way.
is_internal(balancer) if balancer.isInternal == true

is_internal(balancer) if {
	some key in ["loadBalancerType", "loadBalancingScheme"]
	startswith(upper(pipeline.as_text(balancer[key])), "INTERNAL")
}

balancer_name(balancer) := pipeline.as_text(object.get(balancer, "name", object.get(
	balancer,
	"loadBalancerName",
	"without a name",
)))
