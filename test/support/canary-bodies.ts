/**
 * Bodies of registerCanary as the three clients send them, with made-up names
 * (orchestrator-clients.md, 3 and 4).
 */

const STARTS_MS = 1_718_000_000_000
const SERVICE = { pipelineName: 'prod-rollout', serviceGate: 'Verify' }

/** Of the verification stage: numbers are texts, but for the times. */
export function stageBody(more: object = {}): Record<string, unknown> {
  const side = { log: { 'prod-rollout': SERVICE }, metric: { 'prod-rollout': SERVICE } }
  return {
    application: 'shop',
    isJsonResponse: true,
    executionId: '01J0ABCDEF',
    payloadConstraint: [],
    canaryConfig: {
      lifetimeMinutes: '30',
      canaryHealthCheckHandler: { minimumCanaryResultScore: '70' },
      canarySuccessCriteria: { canaryResultScore: '90' },
      name: 'ana',
    },
    canaryDeployments: [
      { baseline: side, canary: side, baselineStartTimeMs: STARTS_MS, canaryStartTimeMs: STARTS_MS },
    ],
    ...more,
  }
}

/** Of the test-verification stage: hours, images, logs alone, and the test run in the scope. */
export function testStageBody(): Record<string, unknown> {
  const scope = (run: string): object => ({ ...SERVICE, testrunkey: run })
  return {
    application: 'shop',
    isJsonResponse: true,
    executionId: '01J0ABCDEF',
    imageIds: ['registry.example/shop:2'],
    canaryConfig: {
      lifetimeHours: '0.5',
      canaryHealthCheckHandler: { minimumCanaryResultScore: 70 },
      canarySuccessCriteria: { canaryResultScore: null },
      combinedCanaryResultStrategy: 'AGGREGATE',
      canaryAnalysisConfig: { beginCanaryAnalysisAfterMins: 5, notificationHours: [] },
      name: 'ana',
    },
    canaryDeployments: [
      {
        baseline: { log: { 'prod-rollout': scope('run-1') } },
        canary: { log: { 'prod-rollout': scope('run-2') } },
        baselineStartTimeMs: STARTS_MS - 86_400_000,
        canaryStartTimeMs: STARTS_MS,
        runInfo: [{ runTestName: 'smoke' }],
      },
    ],
  }
}

/** Of the Argo job: every number a text, scope variables as a list, no baseline for metrics. */
export function argoBody(more: object = {}): Record<string, unknown> {
  const log = { serviceGate: 'gate1', template: 'app-log', templateSha1: 'a'.repeat(40) }
  return {
    application: 'shop',
    sourceName: 'argo-eu',
    sourceType: 'argocd',
    agentName: 'agent-1',
    canaryConfig: {
      lifetimeMinutes: '30',
      lookBackType: 'growing',
      interval: '3',
      delay: '1',
      canaryHealthCheckHandler: { minimumCanaryResultScore: '80' },
      canarySuccessCriteria: { canaryResultScore: '80' },
    },
    canaryDeployments: [
      {
        canaryStartTimeMs: String(STARTS_MS),
        baselineStartTimeMs: String(STARTS_MS),
        canary: {
          log: { service1: { 'kubernetes.pod_name': '.*canary.*', ...log } },
          metric: {
            service1: {
              '${ns},${pod}': 'shop,canary',
              serviceGate: 'gate1',
              template: 'app-metric',
              templateVersion: '1',
            },
          },
        },
        baseline: { log: { service1: { 'kubernetes.pod_name': '.*stable.*', ...log } } },
      },
    ],
    ...more,
  }
}
