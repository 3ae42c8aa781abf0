import { z } from 'zod'

import { InstanceStatus, describeFleet } from '../../../distribution/fleet.js'
import type { FleetInstance } from '../../../distribution/fleet.js'
import type { InstanceReport, InstanceReports } from '../../../store/ports/instance-reports.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import { textOf } from '../../input/path-parameter.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

const MS_PER_SECOND = 1000

export interface FleetRoutesDeps {
  readonly reports: InstanceReports
  /** Returns the status of this instance. */
  readonly own: () => Promise<InstanceStatus>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly maxBodyBytes: number
}

/** Returns all instances, with the current status of this one. */
export async function fleetInstances({
  reports,
  own,
  now,
}: Pick<FleetRoutesDeps, 'reports' | 'own' | 'now'>): Promise<FleetInstance[]> {
  const [status, others] = await Promise.all([own(), reports.list()])
  const { id } = status.labels
  const self: InstanceReport = {
    ...{ id, status: JSON.stringify(status), reportedBy: undefined },
    reportedMs: now(),
  }
  return describeFleet([self, ...others.filter((other) => other.id !== id)], now())
}

const Instance = z.object({
  id: z.string(),
  type: z.enum(['tidegate', 'opa']),
  version: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  health: z
    .enum(['ok', 'failing', 'lost'])
    .describe('`lost` if three reports are overdue, `failing` if a component or bundle fails.'),
  problem: z.string().optional(),
  reportedAt: Time,
  reportedBy: z.string().optional().describe('The token that reported; absent for a shared database.'),
  node: z.string().optional().describe('Version of Node.js.'),
  startedAt: Time.optional(),
  lastDecisionAt: Time.optional(),
  bundles: z.array(
    z.object({
      name: z.string(),
      revision: z.string().optional(),
      stagedRevision: z.string().optional().describe('Revision that answers a share of requests.'),
      activatedAt: Time.optional(),
      lagSeconds: z
        .number()
        .describe('How long another instance has served a newer revision; 0 if none does.'),
      problem: z.string().optional(),
    }),
  ),
})
const Fleet = z.object({ instances: z.array(Instance) })

const { route } = routesOf<FleetRoutesDeps>()
const UPLOAD = {
  method: 'POST',
  roles: ['instance'],
  handler: 'fleet',
  body: jsonBody(InstanceStatus),
  answers: { 200: json('The status is stored.', z.object({})) },
} as const

/** `GET /fleet`, and status uploads as of OPA. */
export const fleetRoutes = [
  route({
    method: 'GET',
    path: '/fleet',
    roles: ['auditor'],
    handler: 'fleet',
    summary: 'The instances of this fleet with version, revisions, health and last decision',
    answers: { 200: json('The instances.', Fleet) },
    answer: async (_, deps) => jsonAnswer({ instances: (await fleetInstances(deps)).map(toAnswer) }),
  }),
  route({
    ...UPLOAD,
    path: '/status',
    summary: 'Report the status of an instance, as OPA uploads it',
    answer: ({ exchange, body }, deps) => store(exchange, body, deps),
  }),
  route({
    ...UPLOAD,
    path: '/status/:partition',
    summary: 'Report the status of an instance of a partition, as OPA uploads it',
    params: { partition: textOf('`partition_name` of the configuration of OPA; it becomes a label.') },
    answer: ({ exchange, body, params }, deps) =>
      store(exchange, { ...body, labels: { ...body.labels, partition: params.partition } }, deps),
  }),
]

async function store(
  { caller }: Exchange,
  status: InstanceStatus,
  { reports }: FleetRoutesDeps,
): Promise<Response> {
  const { id } = status.labels
  await reports.put({ id, status: JSON.stringify(status), reportedBy: caller.tokenName })
  return jsonAnswer({})
}

function toAnswer({
  reportedMs,
  startedMs,
  lastDecisionMs,
  bundles,
  ...rest
}: FleetInstance): z.output<typeof Instance> {
  return {
    ...rest,
    reportedAt: timeText(reportedMs),
    startedAt: startedMs === undefined ? undefined : timeText(startedMs),
    lastDecisionAt: lastDecisionMs === undefined ? undefined : timeText(lastDecisionMs),
    bundles: bundles.map(({ sinceMs, lagMs, ...bundle }) => ({
      ...bundle,
      activatedAt: sinceMs === undefined ? undefined : timeText(sinceMs),
      lagSeconds: Math.round(lagMs / MS_PER_SECOND),
    })),
  }
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
