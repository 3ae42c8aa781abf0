import { Hono } from 'hono'

import { AppError } from '../../../errors/app-error.js'
import { findStageGate, findStageRule } from '../../../gates/definitions/find-stage-gate.js'
import type { StageName } from '../../../gates/definitions/find-stage-gate.js'
import type { AppEnv } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { baseUrl } from '../../exchange/base-url.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { pathWords } from './path-words.js'
import { jsonAnswer } from '../../exchange/json-answer.js'

/** What a stage is for, and so where it is sent. */
type StageType = 'approval' | 'policy' | 'verification'

/** The gate of a stage as the plugins read it: they need the key `gateUrl`. */
interface StageGate {
  readonly path: string
  readonly gateId: number | undefined
}

/** `/platformservice`: the look-ups of the orchestrator's plugins before a stage triggers anything (clients, 1.7 A and C). */
export function gateLookupRoutes(authenticate: Authenticate, deps: GateRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const lookups: Readonly<Record<StageType, (stage: StageName) => Promise<StageGate | undefined>>> = {
    approval: async (stage) => {
      const gate = findStageGate(await deps.lookups.gates.listGates(), stage)
      if (gate === undefined) return undefined
      return { path: `/visibilityservice/v5/approvalGates/${gate.id}/trigger`, gateId: gate.id }
    },
    policy: (stage) => {
      const rule = findStageRule(deps.stagePolicies, stage)
      return Promise.resolve(rule && { path: `/v1/data/${rule.policy}`, gateId: undefined })
    },
    // Which analysis an application gets is looked up when it is triggered.
    verification: () => Promise.resolve({ path: '/autopilot/api/v5/registerCanary', gateId: undefined }),
  }
  app.get('/v1/applications/:application/pipelines/:pipeline', async (c) => {
    c.env.exchange.handler = 'gates.lookup'
    authenticate(c.env.exchange, ['orchestrator'])
    const [, , , application = '', , pipeline = ''] = pathWords(c.env.exchange.target.path)
    const { applicationId, pipelineId } = await deps.findPipelineIds(application, pipeline)
    return jsonAnswer({
      appName: application,
      appId: applicationId,
      serviceName: pipeline,
      serviceId: pipelineId,
      pipelineName: pipeline,
      pipelineId,
      // Otherwise the plugin would set up a gate of its own: gates are declared here.
      isCustomGateFound: true,
    })
  })
  app.get('/v6/applications/:application/pipeline/:pipeline/reference/:reference/gates/:stage', async (c) => {
    c.env.exchange.handler = 'gates.lookup'
    authenticate(c.env.exchange, ['orchestrator'])
    const words = pathWords(c.env.exchange.target.path)
    const [, , , application = '', , pipeline = '', , , , stage = ''] = words
    const type = c.req.query('type') ?? ''
    if (!isStageType(type)) throw unknownType(type)
    const gate = await lookups[type]({ application, pipeline, stage })
    if (gate === undefined) throw noGate(type, { application, pipeline, stage })
    const { path, gateId } = gate
    return jsonAnswer({ gateUrl: `${baseUrl(c.env.exchange, deps.publicUrl)}${path}`, gateId })
  })
  return app
}

function isStageType(type: string): type is StageType {
  return type === 'approval' || type === 'policy' || type === 'verification'
}

function unknownType(type: string): AppError {
  return new AppError('invalid', `type must be approval, policy or verification, not "${type}"`)
}

function noGate(type: StageType, { application, pipeline, stage }: StageName): AppError {
  const where = type === 'approval' ? 'gates.definitions' : 'gates.runtimePolicies'
  return new AppError(
    'not_found',
    `no ${type} is declared for the stage "${stage}" of ${application}, pipeline ${pipeline}: add it to ${where}`,
  )
}
