import type { FuzzRoute } from '../fuzz/routes.js'
import { allRoutes } from '../fuzz/routes.js'
import type { Room } from './worst-fillings.js'

const KIB = 1024
const MIB = 1024 * KIB
const FILLING = '@'
/** The credentials of webhook deliveries. */
export const WEBHOOK_TOKEN = 'token-of-a-test'

/** A body that a route takes, with places that worst fillings go to. */
export interface WriteRoute extends FuzzRoute {
  /** Bodies as JSON texts with one `@` each in place of a filling. */
  readonly bodies: readonly string[]
  /** The largest body that is read, in bytes. */
  readonly maxBytes: number
  /** The most values of a body that is read. */
  readonly maxValues: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Values within policy bodies and events have no separate limit. This is more than any client
 * sends.
 */
const ANY_NUMBER = 10 * MIB
const CONTROL = { maxBytes: MIB, maxValues: 20_000 }
const DOCUMENT = { maxBytes: 256 * KIB, maxValues: 10_000 }
const REGISTRATION = { maxBytes: MIB, maxValues: 10_000 }
const POLICY = { maxBytes: 10 * MIB, maxValues: ANY_NUMBER }
const EVENT = { maxBytes: 10 * MIB, maxValues: ANY_NUMBER }
const NO_BODY = { ...CONTROL, bodies: ['@'] }

const FLAT = '{"application":"shop","executionId":"e","payloadConstraint":[],"x":@}'
const TRIGGER =
  '"approvalCallbackURL":"http://127.0.0.1:9/","rejectionCallbackURL":"http://127.0.0.1:9/","executionId":"e"'
const GATE = '{"name":"n","application":"shop"'
const METRIC = '{"name":"m","query":{"customInlineTemplate":"q"}'

type Kind = Omit<WriteRoute, keyof FuzzRoute>

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^POST \/v[01]\/data|^POST \/$/, { ...POLICY, bodies: ['{"input":@}', FLAT] }],
  [
    /batch\/data/,
    { ...POLICY, bodies: ['{"inputs":{"a":@}}', '{"inputs":{"a":{}},"common_input":{"b":@}}'] },
  ],
  [
    /access\/v1\/evaluation/,
    {
      ...CONTROL,
      bodies: [
        '{"subject":{"type":"user","id":"ana"},"action":{"name":"deploy"},"resource":{"type":"pipeline","id":"shop"},"context":{"a":@}}',
      ],
    },
  ],
  [
    /staticPolicy/,
    {
      ...POLICY,
      bodies: ['{"input":{"new":@}}', '{"input":@}'],
    },
  ],
  [
    /^POST \/(?:platform|oes)\/echo/,
    {
      ...EVENT,
      bodies: [
        '{"eventId":"one","name":"n","content":@}',
        '{"details":{"type":"orca:orchestration:complete"},"eventId":"two","content":{"execution":{"stages":@}}}',
        '{"payload":@}',
      ],
    },
  ],
  [
    /auditservice/,
    { ...EVENT, bodies: ['{"content":@,"details":{"type":"t"}}', '{"content":"c","details":@}'] },
  ],
  [
    /webhooks/,
    {
      maxBytes: 2 * MIB,
      maxValues: ANY_NUMBER,
      bodies: ['{"object_kind":"push","commits":@}', '@'],
      headers: { 'x-gitlab-token': WEBHOOK_TOKEN },
    },
  ],
  [
    /\/(?:approvalGates)\/\w+\/trigger/,
    {
      ...CONTROL,
      bodies: [
        `{${TRIGGER},"imageIds":"","connectorType":"","toolConnectorParameters":@}`,
        `{${TRIGGER},"imageIds":"","connectorType":@,"toolConnectorParameters":""}`,
        `{${TRIGGER},"imageIds":@,"connectorType":"JIRA","toolConnectorParameters":""}`,
        `{${TRIGGER},"imageIds":"","connectorType":"","toolConnectorParameters":[{"connectorType":"JIRA","parameters":[{"jira_ticket_no":@}]}]}`,
        `{${TRIGGER},"imageIds":"","connectorType":"","toolConnectorParameters":"","customConnectorData":@}`,
      ],
    },
  ],
  [
    /dashboardservice/,
    {
      ...CONTROL,
      bodies: [
        '{"gateName":"g","gateType":"approval","isAutomatedApproval":true,"approvalGatePolicies":@}',
        '{"gateName":"g","gateType":"policy","policyName":@}',
        '{"gateName":"g","gateType":"verification","payloadConstraint":@}',
      ],
    },
  ],
  [
    /usergroups/,
    {
      ...CONTROL,
      bodies: [
        '{"userGroups":[{"permissionIds":["approve_gate"],"userGroupNames":@}]}',
        '{"userGroups":[{"userGroupNames":[],"permissionIds":@}]}',
        '{"userGroups":@}',
      ],
    },
  ],
  [/connector$/, { ...CONTROL, bodies: ['{"datasourceName":@}', '{"datasourceName":"a","x":@}'] }],
  [
    /^POST \/ui\//,
    {
      maxBytes: MIB,
      maxValues: ANY_NUMBER,
      bodies: ['formToken=x&comment=@', 'token=@', '@'],
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
  ],
  [
    /^POST \/policies\/impact$/,
    {
      ...POLICY,
      bodies: ['{"policies":@}', '{"policies":{"directories":[{"a.rego":"package a"}]},"x":@}', '@'],
    },
  ],
  [
    /^POST \/playground$/,
    {
      ...CONTROL,
      bodies: ['{"text":"package a","path":"a","input":@}', '{"text":"package a","path":@}', '@'],
    },
  ],
  [
    /^POST \/status/,
    {
      ...CONTROL,
      bodies: [
        '{"labels":@}',
        '{"labels":{"id":"a"},"bundles":@}',
        '{"labels":{"id":"a"},"plugins":{"a":@}}',
        '@',
      ],
    },
  ],
  [
    /^POST \/exceptions$/,
    { ...CONTROL, bodies: ['{"package":@}', '{"package":"a","reason":@,"until":"1h"}', '{"until":@}', '@'] },
  ],
  [
    /^POST \/delegations$/,
    { ...CONTROL, bodies: ['{"to":@,"until":"2999-01-01"}', '{"to":"a","until":@}', '@'] },
  ],
  [/^PUT \/v1\/policies/, { ...POLICY, bodies: ['@'] }],
  [/^(?:PUT|PATCH) \/v1\/data/, { ...POLICY, bodies: ['@', '[{"op":"add","path":"/a","value":@}]'] }],
  [/reserve$/, { ...CONTROL, bodies: ['{"executionId":@}', '{"executionId":"e","x":@}'] }],
  [/\/review$/, { ...CONTROL, bodies: ['{"action":"approve","comment":@}', '{"action":@}', '@'] }],
  [/spinnakerReview$/, { ...CONTROL, bodies: ['{"action":"cancel","comment":@}', '{"action":@}'] }],
  [
    /approvalGates(?:\/\w+)?$/,
    {
      ...CONTROL,
      bodies: [
        '{"name":@}',
        `${GATE},"x":@}`,
        `${GATE},"connectors":@}`,
        `${GATE},"approvers":{"users":@}}`,
        `${GATE},"policy":@}`,
        `${GATE},"stage":@}`,
        '@',
      ],
    },
  ],
  [
    /registerCanary$|^POST \/analysis$/,
    {
      ...REGISTRATION,
      bodies: [
        '{"application":@}',
        '{"application":"shop","canaryDeployments":@}',
        '{"application":"shop","canaryDeployments":[{"canary":{"metric":@},"baseline":{"metric":{}}}]}',
        '{"application":"shop","canaryDeployments":[{"canary":{"log":{"s":@}},"baseline":{"log":{"s":{"a":"b"}}}}]}',
        '{"application":"shop","canaryDeployments":[{"canary":{"metric":{"s":{"${a},${b}":@}}}}]}',
        '{"application":"shop","canaryConfig":@}',
        '{"application":"shop","canaryConfig":{"name":"x","lifetimeMinutes":@}}',
      ],
    },
  ],
  [
    /^POST \/analysis\/:\w+\/feedback$/,
    { ...CONTROL, bodies: ['{"judgement":@}', '{"judgement":"right","metrics":@}', '@'] },
  ],
  [
    /external\/template$/,
    {
      ...DOCUMENT,
      bodies: [
        '{"data":{"groups":[{"group":"g","metrics":@}]}}',
        '{"data":{"groups":@}}',
        '{"errorTopics":@}',
        '@',
      ],
    },
  ],
  [
    /^(?:PUT|POST) \/analysis\/applications/,
    {
      ...DOCUMENT,
      bodies: [
        '@',
        '{"lifetimeMinutes":60,"metrics":{"source":"files","canaryConfig":{"name":"s","metrics":@}}}',
        `{"metrics":{"source":"files","canaryConfig":{"name":"s","metrics":[${METRIC},"groups":["g"],"analysisConfigurations":@}],"classifier":{"groupWeights":{"g":100}}}}}`,
        `{"metrics":{"source":"files","canaryConfig":{"name":"s","metrics":[${METRIC},"groups":["g"]}],"classifier":{"groupWeights":@}}}}`,
        '{"scopes":@}',
        '{"logs":@}',
        '{"services":@}',
      ],
    },
  ],
  [
    /^POST \/analysis\/[^/]+\/feedback$/,
    { ...DOCUMENT, bodies: ['{"judgement":"right","comment":@}', '{"judgement":"right","metrics":@}'] },
  ],
  [/^POST \/policies\/pin/, { ...CONTROL, bodies: ['{"revision":@}', '@'] }],
  [/./, NO_BODY],
]
const WITHOUT_BODY: readonly RegExp[] = [
  /^DELETE /,
  /\/cancel$/,
  /\/resend$/,
  /\/resume$/,
  /\/approve$/,
  /\/refresh$/,
  /\/(?:rollback|unpin|promote|abandon|reload)$/,
  /\/tests?$/,
  /\/coverage$/,
]
const QUERIES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/external\/template$/, ['?templateType=METRIC&templateName=t', '?templateType=LOG&templateName=t']],
]

/** Equivalent to another route for a parser of the body. */
const ALIKE = /\/v1\/data\/(?:app\/|\*)|^POST \/oes|registerCanary$(?<!v3\/registerCanary)|^POST \/$/

/**
 * Returns every route of the service with a body, and its fillings. Throws for a route that is not
 * listed.
 */
export function writeRoutes(): readonly WriteRoute[] {
  const seen = new Set<string>()
  return allRoutes().flatMap(({ method, path }) => {
    const name = `${method} ${path.replace(/\?.*/, '')}`
    if (method === 'GET' || method === 'HEAD' || seen.has(name) || ALIKE.test(name)) return []
    seen.add(name)
    const kind = KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? NO_BODY
    if (kind === NO_BODY && !WITHOUT_BODY.some((pattern) => pattern.test(name))) {
      throw new Error(`no bodies are known for ${name}`)
    }
    const queries = QUERIES.find(([pattern]) => pattern.test(name))?.[1] ?? ['']
    return queries.map((query) => ({ ...kind, method, path: path + query }))
  })
}

/** A body with its filling, as large as the route takes it. */
export function fillBody(route: WriteRoute, body: string, fill: (room: Room) => string): string {
  const [before = '', after = ''] = body.split(FILLING)
  const bytes = route.maxBytes - Buffer.byteLength(before + after)
  const own = body.match(/[,{[]/g)?.length ?? 0
  return before + fill({ bytes, values: route.maxValues - own - 2 }) + after
}
