/** Metrics and log lines of a file for each version; the canary's version is part of the query. */
export const FILE_ANALYSIS = {
  lifetimeMinutes: 60,
  stepSeconds: 60,
  metrics: {
    source: 'files',
    canaryConfig: {
      name: 'shop',
      metrics: [
        {
          name: 'latency',
          groups: ['speed'],
          query: { customInlineTemplate: '${version}.csv#latency' },
          analysisConfigurations: { canary: { direction: 'increase' } },
        },
      ],
      classifier: { groupWeights: { speed: 100 } },
    },
  },
  scopes: { baseline: { version: 'stable' }, canary: { version: 'healthy' } },
}

/** The configuration of a service with its source and definitions in a workspace. */
export function analysisIn(workspace: string) {
  return {
    sources: [{ name: 'files', type: 'file', directory: `${workspace}/data` }],
    definitions: `${workspace}/definitions`,
  }
}
