import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, PersistentVolumeClaim, Secret, Service, ServiceAccount } from 'kubernetes-models/v1'

const CLASSES = {
  ...{
    ConfigMap,
    PersistentVolumeClaim,
    Secret,
    Service,
    ServiceAccount,
    Deployment,
    HorizontalPodAutoscaler,
  },
  ...{ Ingress, NetworkPolicy, PodDisruptionBudget, PrometheusRule, ServiceMonitor },
}

/**
 * Validates a resource by the schema that Kubernetes, or the Prometheus operator, publishes for its
 * version and kind. Throws every problem.
 */
export function validateResource(resource: { readonly kind: string; readonly apiVersion?: unknown }): void {
  const { kind } = resource
  if (!(kind in CLASSES)) throw new Error(`no schema is loaded for ${kind}`)
  const Class = CLASSES[kind as keyof typeof CLASSES] as unknown as {
    new (data: object): { validate(): void }
    readonly apiVersion: string
  }
  if (resource.apiVersion !== Class.apiVersion)
    throw new Error(`${kind} has version ${String(resource.apiVersion)}, not ${Class.apiVersion}`)
  new Class(resource).validate()
}
