package static.public_load_balancer_test

import data.lib.fixtures
import data.static.public_load_balancer
import rego.v1

reasons(stage) := denied if {
	denied := public_load_balancer.deny with input as fixtures.new_with([stage]) with data.settings as fixtures.settings
}

service(annotations) := {"type": "deployManifest", "name": "Deploy", "manifests": [{
	"kind": "Service",
	"metadata": {"name": "web", "annotations": annotations},
	"spec": {"type": "LoadBalancer"},
}]}

test_a_public_service_is_denied if {
	reasons(service({})) == {"stage 'Deploy' opens Service 'web' to the internet; make it internal"}
	count(reasons(service({"cloud.test/internal": "false"}))) == 1
}

test_a_service_marked_internal_is_allowed if reasons(service({"cloud.test/internal": true})) == set()

test_a_service_inside_the_cluster_is_allowed if {
	reasons({"manifests": [{"kind": "Service", "spec": {"type": "ClusterIP"}}]}) == set()
	reasons({"manifests": [{"kind": "Menu", "spec": {"type": "LoadBalancer"}}]}) == set()
}

test_an_ingress_marked_public_is_denied if {
	ingress := {"kind": "Ingress", "metadata": {"annotations": {"cloud.test/scheme": "internet-facing"}}}
	reasons({"name": "Deploy", "manifests": [ingress]}) == {"stage 'Deploy' opens Ingress 'without a name' to the internet; make it internal"}
}

test_a_public_cloud_load_balancer_is_denied if {
	every balancer in [
		{"name": "web", "isInternal": false},
		{"name": "web"},
		{"loadBalancerName": "web", "loadBalancerType": "HTTP"},
		{"loadBalancerName": "web", "loadBalancerType": null},
		{"name": "web", "description": "internal"},
	] {
		every type in ["upsertLoadBalancer", "upsertLoadBalancers", "upsertAmazonLoadBalancer"] {
			reasons({"type": type, "name": "Open", "loadBalancers": [balancer]}) == {"stage 'Open' opens load balancer 'web' to the internet; make it internal"}
		}
	}
}

test_an_internal_cloud_load_balancer_is_allowed if {
	every balancer in [{"isInternal": true}, {"loadBalancerType": "INTERNAL"}, {"loadBalancingScheme": "internal_managed"}] {
		reasons({"type": "upsertLoadBalancer", "loadBalancers": [balancer]}) == set()
	}
}

test_a_load_balancer_written_on_the_stage_itself_is_judged if {
	count(reasons({"type": "upsertLoadBalancer", "name": "web", "isInternal": false})) == 1
	reasons({"type": "upsertLoadBalancer", "name": "web", "isInternal": true}) == set()
}

test_other_stage_types_hold_no_cloud_load_balancer if reasons({"type": "deploy", "loadBalancers": [{"name": "web"}]}) == set()

test_applications_at_the_edge_may_be_public if {
	every name in ["edge", "Edge"] {
		body := {"new": {"application": name, "stages": [service({})]}}
		public_load_balancer.deny == set() with input as body with data.settings as fixtures.settings
	}
}

test_a_pipeline_without_application_may_not_be_public if {
	body := {"new": {"stages": [service({})]}}
	count(public_load_balancer.deny) == 1 with input as body with data.settings as fixtures.settings
}

test_other_inputs_are_not_refused if public_load_balancer.deny == set() with input as {"app": {"name": "shop"}}

test_patches_that_may_open_a_service_are_denied if {
	every patch in [
		{"spec": {"type": "LoadBalancer"}},
		{"spec": {"type": "${parameters.type}"}},
		[{"op": "replace", "path": "/spec/type", "value": "LoadBalancer"}],
		[{"op": "replace", "path": "/spec", "value": {"type": "LoadBalancer"}}],
		[{"op": "add", "path": "/metadata/annotations/cloud.test~1scheme", "value": "internet-facing"}],
	] {
		stage := {"type": "patchManifest", "name": "Patch", "patchBody": patch}
		denied := public_load_balancer.deny with input as fixtures.new_with([stage]) with data.settings as fixtures.settings
		count(denied) == 1
	}
}
