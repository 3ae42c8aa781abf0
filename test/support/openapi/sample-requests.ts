import { pastCanary } from '../analysis-service.js'
import { FILE_ANALYSIS } from '../file-analysis.js'
import { createHmac } from 'node:crypto'

import { pipelineEvent } from '../orchestrator-events.js'
import { IMPACT, WEBHOOK_TOKEN, exceptionBody, triggerBody } from './described-service.js'
import type { DescribedService } from './described-service.js'
import type { DescribedOperation } from './operations.js'

const LOG_TEMPLATE = { templateName: 'sample', errorTopics: [{ string: 'boom', topic: 'critical' }] }

const METRIC_TEMPLATE = {
  templateName: 'sample',
  data: { groups: [{ group: 'a', metrics: [{ name: 'x' }] }] },
}
const SIGN_IN_TOKEN = 'x'.repeat(43)

/** A policy tried on one document. */
const TRIAL = { text: 'package trial\n\nallow := true\n', path: 'trial/allow' }

/** A request that an operation takes. */
interface SampleRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Values of path parameters: by the path, after the method or alone, otherwise by the name. */
const PARAMETERS: readonly (readonly [
  path: RegExp,
  values: (ids: DescribedService['ids']) => Record<string, string>,
])[] = [
  [/^(?:PUT|PATCH|DELETE) \/v1\/data/, () => ({ path: 'limits/sample' })],
  [/^\/v1\/policies/, () => ({ path: 'sample' })],
  [/^\/policies\/packages/, () => ({ package: 'app' })],
  [/^\/v[01]\/(?:batch\/)?data|^\/ui\/policies|\/plugin-isd\/policy/, () => ({ path: 'app/allow' })],
  [/template\//, () => ({ name: 'sample', type: 'log' })],
  [/^\/ui\/templates/, () => ({ name: 'sample' })],
  [/^\/ui\/approvals/, ({ page }) => ({ id: page })],
  [/\/plugin-isd\/approval/, () => ({ application: 'shop', service: 'any', gate: '1' })],
  [
    /^\/ui\/runs|\/verification\//,
    ({ run, report }) => ({ application: 'shop', id: run, token: report, service: '3' }),
  ],
  [/^\/bundles/, () => ({ name: 'main' })],
  [/^(?:\/ui\/account)?\/sessions/, () => ({ id: 'sample' })],
  [/^\/delegations/, () => ({ id: '1' })],
  [/^\/ui\/account\/delegations/, () => ({ id: '2' })],
  [/^\/status/, () => ({ partition: 'edge' })],
  [/^\/exceptions/, ({ exception }) => ({ id: exception })],
  [/^(?:\/ui)?\/decisions/, ({ decision }) => ({ decisionId: decision, id: decision })],
  [/^\/policies\/impact|^\/ui\/impact/, ({ impact }) => ({ impactId: impact })],
  [/^\/ui\/estate\/pipelines/, ({ pipeline }) => ({ id: pipeline })],
  [/^\/ui\/operations\/outbox/, ({ message }) => ({ id: message })],
  [/^\/approvalGates\/\{id\}$/, ({ gate }) => ({ id: gate })],
  [
    /\/approvalGates\/\{gateId\}|\/resources\/|\{gateId\}$/,
    ({ pipeline, stage }) => ({ id: pipeline, gateId: stage }),
  ],
  [/^\/dashboardservice/, ({ pipeline }) => ({ id: pipeline })],
  [/^\/platformservice\/v4/, ({ application }) => ({ id: application })],
  [/\/delete\w+Template\//, () => ({ application: '12', name: 'forgotten' })],
  [/^\/approvalGates|^\/visibilityservice\/v\d\/approvalGates\//, () => ({ id: '1' })],
  [/\/review$/, ({ open }) => ({ id: open })],
  [/approvalGateInstances/, ({ instance }) => ({ id: instance })],
  [/^\/audit\//, ({ record }) => ({ seq: record })],
  [/^(?:\/ui)?\/executions/, () => ({ id: '01J0RUN' })],
  [/^\/applications/, () => ({ name: 'shop' })],
  [/^\/pipelines/, () => ({ id: 'rollout-id' })],
  [/^\/analysis\/applications/, () => ({ application: 'other' })],
  [/^\/analysis|canaries/, ({ run, report }) => ({ id: run, token: report, look: '1', interval: '1' })],
  [/^\/notifications/, () => ({ channel: 'sample' })],
  [/^\/outbox/, ({ message }) => ({ id: message })],
  [
    /^\/platformservice/,
    () => ({ application: 'shop', pipeline: 'rollout', reference: '1', stage: 'Release' }),
  ],
]
/** Queries for routes that need one. */
const QUERIES: readonly (readonly [operation: RegExp, query: (ids: DescribedService['ids']) => string])[] = [
  [/^getUi.*GateFromPlugin$|^getApproval.*FromPlugin$/, ({ instance }) => `?instanceId=${instance}`],
  [/^getHealth$/, () => '?bundles&plugins'],
  [/GatesByStage$/, () => '?type=approval'],
  [/^getPoliciesRevisionsDiff$/, () => '?base=r8&revision=r9'],
  [/^getUiAnalysesCompare$/, ({ run }) => `?first=${run}&second=${run}`],
  [/ExternalTemplate$/, () => '?templateType=LOG&templateName=sample'],
]
const BODIES: readonly (readonly [
  operation: RegExp,
  body: (service: DescribedService, nth: number) => unknown,
])[] = [
  [/^putV1Policies/, () => 'package sample'],
  [/^putV1Data$/, () => ({})],
  [/^putV1DataBelow/, () => ({ list: [1] })],
  [/^patchV1Data/, () => [{ op: 'add', path: '/more', value: 1 }]],
  [/^postPoliciesImpact$/, () => IMPACT],
  [/^postPoliciesPin$/, () => ({ revision: 'r9' })],
  [/^postPlayground$/, () => TRIAL],
  [/^postUiPolicies/, ({ ids }) => ({ formToken: ids.formToken, action: 'tests' })],
  [/^postUiPlayground$/, ({ ids }) => ({ formToken: ids.formToken, ...TRIAL, file: '', input: '{}' })],
  [
    /^postUiAnalysesDefinition$/,
    ({ ids }) => ({
      ...{ formToken: ids.formToken, application: 'sample', action: 'save' },
      text: 'checks: [{ name: open, source: web, query: /open, rule: shop/open }]',
    }),
  ],
  [/^postUiAnalyses$/, ({ ids }) => ({ formToken: ids.formToken, application: 'shop' })],
  [/^postUiOperationsStage$/, ({ ids }) => ({ formToken: ids.formToken, action: 'abandon', revision: '1' })],
  [/^postUiOperationsWork/, ({ ids }) => ({ formToken: ids.formToken, kind: 'gate', key: '1' })],
  [/^postUiRuns\w*Feedback$/, ({ ids }) => ({ formToken: ids.formToken, judgement: 'right' })],
  [/Feedback$/, () => ({ judgement: 'right' })],
  [
    /^postUiAccountDelegations$/,
    ({ ids }, nth) => ({
      ...{ formToken: ids.formToken, to: `sample ${nth}` },
      until: new Date(Date.now() + 86_400_000).toISOString(),
    }),
  ],
  [/^postUi(?:Decisions|Operations|Account|Runs|Trail)/, ({ ids }) => ({ formToken: ids.formToken })],
  [
    /^postDelegations$/,
    (_, nth) => ({ to: `sample ${nth}`, until: new Date(Date.now() + 86_400_000).toISOString() }),
  ],
  [/^postStatus/, () => ({ labels: { id: 'sample' } })],
  [/^postExceptions$/, (_, nth) => exceptionBody(`sample ${nth}`)],
  [/BatchData/, () => ({ inputs: { a: { user: 'ana' } } })],
  [
    /^postAccessV1Evaluation/,
    () => ({
      subject: { type: 'user', id: 'ana' },
      action: { name: 'deploy' },
      resource: { type: 'pipeline', id: 'shop' },
    }),
  ],
  [
    /^postUiTemplatesLog/,
    ({ ids }) => ({ formToken: ids.formToken, name: 'sample', body: JSON.stringify(LOG_TEMPLATE) }),
  ],
  [
    /^postUiTemplatesMetric/,
    ({ ids }) => ({ formToken: ids.formToken, name: 'sample', body: JSON.stringify(METRIC_TEMPLATE) }),
  ],
  [/^postUiApprovals/, ({ ids }) => ({ formToken: ids.formToken, action: 'approve' })],
  [/^postUiSignInBackChannel/, () => ({ logout_token: 'x' })],
  [/^postUiSignIn$/, () => ({ formToken: SIGN_IN_TOKEN, token: 'token-of-ana', next: '/ui' })],
  [/^postUiSignOut/, ({ ids }) => ({ formToken: ids.formToken })],
  [/^postV1StaticPolicy/, () => ({ input: { new: {} } })],
  [/^post(?:V[01]Data|Root)/, () => ({ input: {} })],
  [/^postDashboardservice|^putDashboardservice/, () => ({ gateName: 'Verify', gateType: 'verification' })],
  [
    /^putPlatformservice/,
    () => ({ userGroups: [{ userGroupNames: [{ userGroupName: 'a' }], permissionIds: ['approve_gate'] }] }),
  ],
  [/Connector$/, () => ({ datasourceName: 'tickets' })],
  [/Trigger$/, ({ callbackUrl }, nth) => triggerBody(callbackUrl, `sample-${nth}`)],
  [/Reserve$/, (_, nth) => ({ executionId: `reserved-${nth}` })],
  [/^postApprovalGates$/, (_, nth) => ({ name: `Sample ${nth}`, application: 'shop' })],
  [/^putApprovalGatesById$/, () => ({ name: 'Changed', application: 'shop' })],
  [/ByIdReview$/, () => ({ action: 'approve', comment: 'fine' })],
  [/SpinnakerReview$/, () => ({ action: 'cancel' })],
  [/Echo/, () => pipelineEvent()],
  [/Try$/, () => ({ minutes: 10 })],
  [/Backtest$/, () => ({ baseline: {}, windows: 1 })],
  [/^putAnalysisApplications/, () => FILE_ANALYSIS],
  [/RegisterCanary$|^postAnalysis$/, () => pastCanary('healthy')],
  [/ExternalTemplate$/, () => LOG_TEMPLATE],
  [/Webhook/, () => ({ object_kind: 'push' })],
]

/** Signed like webhooks of repository hosts. */
function signatures(body: string): Record<string, string> {
  const signature = `sha256=${createHmac('sha256', WEBHOOK_TOKEN).update(body).digest('hex')}`
  return { 'x-hub-signature': signature, 'x-hub-signature-256': signature }
}

/** A request that an operation takes; `nth` makes it another one than those before. */
export function sampleRequest(
  { method, path, operation: { operationId } }: DescribedOperation,
  service: DescribedService,
  nth: number,
): SampleRequest {
  const { ids } = service
  const values =
    PARAMETERS.find(([pattern]) => pattern.test(path) || pattern.test(`${method} ${path}`))?.[1](ids) ?? {}
  const query = QUERIES.find(([pattern]) => pattern.test(operationId))?.[1](ids) ?? ''
  const made =
    method === 'GET' || method === 'DELETE'
      ? undefined
      : BODIES.find(([pattern]) => pattern.test(operationId))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1')
  const value = made?.[1](service, nth)
  const isForm = path.startsWith('/ui/')
  return {
    method,
    path: `${filled}${query}`,
    headers: {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'x-gitlab-token': WEBHOOK_TOKEN,
      cookie: `tidegate_sign_in=${SIGN_IN_TOKEN}`,
      ...signatures(value === undefined ? '' : JSON.stringify(value)),
    },
    body:
      isForm && value !== undefined
        ? new URLSearchParams(value as Record<string, string>).toString()
        : made && (typeof value === 'string' ? value : JSON.stringify(value)),
  }
}
