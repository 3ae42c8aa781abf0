import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'

import { PROJECT_ROOT } from '../project-root.js'
import { hasPrometheus, startPrometheus } from '../prometheus-server.js'
import { startTidegate } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import { startOrchestrator } from './orchestrator.js'
import type { Orchestrator } from './orchestrator.js'
import { startShop } from './shop.js'
import { startSmallPrometheus } from './small-prometheus.js'

/** Everything that runs during the demo. */
export interface Parts {
  readonly tidegateUrl: string
  readonly prometheusUrl: string
  readonly isRealPrometheus: boolean
  readonly orchestrator: Orchestrator
  /** The token with which `ana` signs in, created for each demo. */
  readonly token: string
  /** Data directory of the service, removed at the end. */
  readonly dataDir: string
}

interface PartsSettings {
  /** Takes the small server even where Prometheus is installed. */
  readonly withSmallPrometheus: boolean
  readonly ended: AbortSignal
  readonly failed: (error: unknown) => void
  /** Registers a function that is called at the end, in the order of the starts. */
  readonly onClose: (close: () => unknown) => void
}

const TOKEN_BYTES = 6

/**
 * Starts the shop, Prometheus, Tidegate and the orchestrator, all on free ports of loopback and in
 * a folder of their own.
 */
export async function startParts(settings: PartsSettings): Promise<Parts> {
  const { withSmallPrometheus, ended, failed, onClose } = settings
  const workspace = makeWorkspace({ 'definitions/shop.json': JSON.stringify(ANALYSIS) })
  onClose(workspace.remove)
  const shop = await startShop()
  onClose(shop.close)
  const isRealPrometheus = hasPrometheus && !withSmallPrometheus
  const prometheus = isRealPrometheus
    ? await startPrometheus({ targets: [`127.0.0.1:${shop.port}`] })
    : await startSmallPrometheus(shop.origin)
  onClose(prometheus.stop)
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const directories = [join(PROJECT_ROOT, 'policies')]
  const config = configuration(workspace.path, prometheus.url, token)
  const tidegate = await startTidegate({ workspace, directories, config })
  onClose(() => tidegate.end('SIGTERM'))
  const deployed = (stageName: string): void => {
    if (stageName === 'Deploy canary') shop.deployCanary()
  }
  const orchestrator = await startOrchestrator({ tidegateUrl: tidegate.url, deployed, failed, ended })
  onClose(orchestrator.close)
  return {
    ...{ tidegateUrl: tidegate.url, prometheusUrl: prometheus.url, isRealPrometheus },
    ...{ orchestrator, token, dataDir: join(workspace.path, 'data') },
  }
}

function configuration(folder: string, prometheusUrl: string, token: string) {
  const sha256 = createHash('sha256').update(token).digest('hex')
  return {
    auth: {
      openToOrchestrator: true,
      tokens: [{ name: 'ana', roles: ['approver', 'auditor'], groups: ['leads'], sha256 }],
    },
    callbacks: { allowLoopback: true },
    gates: {
      definitions: [
        { id: 7, name: 'Approve release', application: 'shop', approvers: { groups: ['leads'] } },
      ],
      runtimePolicies: [
        { application: 'shop', stage: 'Trusted image', policy: 'runtime/trusted_registries' },
      ],
    },
    analysis: {
      sources: [{ name: 'prometheus', type: 'prometheus', url: prometheusUrl }],
      definitions: join(folder, 'definitions'),
    },
  }
}

const metric = (name: string, metricName: string, more: object): object => ({
  ...{ name, groups: [name] },
  query: { metricName, labelBindings: ['version="${version}"'] },
  analysisConfigurations: { canary: { direction: 'increase', ...more } },
})

/** Three looks in three quarters of a minute, of a value a second. */
const ANALYSIS = {
  ...{ lifetimeMinutes: 0.75, intervalMinutes: 0.25, delayMinutes: 0.03, stepSeconds: 1 },
  scopes: { baseline: { version: 'stable' }, canary: { version: 'canary' } },
  metrics: {
    source: 'prometheus',
    canaryConfig: {
      name: 'shop',
      metrics: [
        metric('failed requests', 'shop_failed_requests_per_second', { critical: true }),
        metric('time of a request', 'shop_request_seconds', { margin: 0.1 }),
      ],
      classifier: { groupWeights: { 'failed requests': 60, 'time of a request': 40 } },
    },
  },
}
