import { z } from 'zod'

import {
  addException,
  approveException,
  listExceptions,
  removeException,
} from '../../../enforcement/exceptions/exception-operations.js'
import type { ExceptionActor } from '../../../enforcement/exceptions/exception-operations.js'
import {
  NEEDS_APPLICATION,
  hasApplication,
  isApproved,
  verdictPackages,
} from '../../../enforcement/exceptions/exception-book.js'
import { AppError } from '../../../errors/app-error.js'
import { readIsoTime } from '../../../lib/clocks/iso-time.js'
import { nearestName, suggestion } from '../../../lib/text/nearest-name.js'
import type { Snapshot } from '../../../rego/index.js'
import type { PolicyException } from '../../../store/ports/exception-store.js'
import type { Reader } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'
import { actorOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyLimits, BodyReader } from '../../input/body-reader.js'
import { numberOf } from '../../input/path-parameter.js'
import { readJsonBody } from '../../input/read-json-body.js'
import { AfterNumber, NextPage, Time, json, pageSize } from '../../pipeline/answer-schemas.js'
import { writtenName, writtenText } from '../../../lib/validation/written-text.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface ExceptionRoutesDeps extends BodyLimits {
  readonly policies: { readonly current: Snapshot }
  readonly writer: Writer
  readonly reader: Reader
  readonly now: () => number
  /** Whether a second person must approve an exception. */
  readonly approval: boolean
  /** Longest time to the end of a new exception, in milliseconds. */
  readonly maxMs: number
  /** Puts a change into effect in all processes of this service. */
  readonly changed: () => Promise<void>
}

const MAX_REASON = 1000
const MAX_NAME = 1000
const DEFAULT_PAGE = 100
const MAX_PAGE = 1000
const STATES = ['pending', 'active', 'ended'] as const
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
/** Owner of a caller without a name. */
const NOBODY = 'anonymous'

const name = writtenName(MAX_NAME).trim().min(1)
export const ExceptionBody = z.strictObject({
  package: name.describe('Package with a verdict, such as `static.wait_time`.'),
  application: name.optional().describe('All applications if absent.'),
  pipeline: name.optional().describe('Name or id of a pipeline of the application; all if absent.'),
  reason: writtenText(MAX_REASON).trim().min(1),
  until: z
    .string()
    .describe(
      'Its end: a date or an ISO 8601 time, in UTC by default, at most `policies.exceptions.maxDays` ahead.',
    ),
})

const ListQuery = z.strictObject({
  package: z.string().optional(),
  application: z.string().optional(),
  state: z.enum(STATES).optional(),
  expiring: z
    .string()
    .regex(/^\d{1,4}[mhdw]$/, 'must be a duration such as 12h or 7d')
    .optional()
    .describe('Only active ones that end within this time: `12h`, `7d`.'),
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterNumber,
})

const ExceptionAnswer = z.object({
  id: z.int(),
  package: z.string(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  reason: z.string(),
  owner: z.string().describe('The user who added it.'),
  createdAt: Time,
  until: Time,
  state: z.enum(STATES).describe('`pending` until it is approved, if it needs approval.'),
  approver: z.string().optional(),
  approvedAt: Time.optional(),
})
const ID = { id: numberOf('exception') }
const { route } = routesOf<ExceptionRoutesDeps>()

/** Reads an exception. All problems are reported together. */
const exceptionBody: BodyReader<ExceptionRoutesDeps, Added> = {
  schema: ExceptionBody,
  read: (exchange, deps) => readJsonBody(exchange, checkedBody(deps), deps.maxBodyBytes),
}

interface Added extends Omit<z.output<typeof ExceptionBody>, 'until'> {
  /** Epoch milliseconds. */
  readonly until: number
}

function checkedBody({ policies, now, maxMs }: ExceptionRoutesDeps): z.ZodType<Added> {
  const [nowMs, names] = [now(), verdictPackages(policies.current)]
  return ExceptionBody.extend({
    package: ExceptionBody.shape.package
      .transform((written) => written.replace(/^data\./, ''))
      .refine((written) => names.includes(written), {
        error: ({ input }) =>
          `must be a loaded package with a verdict${suggestion(nearestName(String(input), names))}`,
      }),
    until: z
      .string()
      .transform((text) => (/^\d{4}-/.test(text) ? readIsoTime(text, 'utc') : Number.NaN))
      .superRefine((ms, context) => {
        const message = endProblem(ms, nowMs, maxMs)
        if (message !== undefined) context.addIssue({ code: 'custom', message })
      }),
  }).refine(hasApplication, NEEDS_APPLICATION)
}

function endProblem(ms: number, nowMs: number, maxMs: number): string | undefined {
  if (!Number.isFinite(ms)) return 'must be a date such as 2027-01-31 or an ISO 8601 time'
  if (ms <= nowMs) return 'must be in the future'
  if (ms <= nowMs + maxMs) return undefined
  return `must be at most ${maxMs / (MS['d'] ?? 1)} days ahead (policies.exceptions.maxDays)`
}

/** Exceptions: permissions for denials of a package until an end. */
export const exceptionRoutes = [
  route({
    method: 'POST',
    path: '/exceptions',
    roles: ['approver', 'author'],
    handler: 'exceptions',
    summary: 'Excuse denials of a package until an end',
    body: exceptionBody,
    answers: {
      201: {
        ...json('The exception.', ExceptionAnswer),
        headers: { Location: 'URL of the exception.' },
      },
      200: json('The same user added an equal exception before.', ExceptionAnswer),
      409: { description: 'There are too many exceptions.' },
    },
    answer: async ({ exchange, body }, deps) => {
      if (!deps.approval && !isApprover(exchange)) throw approversOnly()
      const { user: owner, origin, nowMs } = exceptionActor(exchange, deps)
      const { until: untilMs, ...about } = body
      const added = { ...about, owner, createdMs: nowMs, untilMs, needsApproval: deps.approval }
      const { exception, isNew } = await deps.writer.run(addException, { added, origin })
      await deps.changed()
      const view = toView(exception, nowMs)
      return isNew ? jsonAnswer(view, 201, { Location: `/exceptions/${exception.id}` }) : jsonAnswer(view)
    },
  }),
  route({
    method: 'GET',
    path: '/exceptions',
    roles: ['auditor', 'approver', 'author'],
    handler: 'exceptions',
    summary: 'Exceptions by their ids',
    query: ListQuery,
    answers: { 200: json('A page.', z.object({ exceptions: z.array(ExceptionAnswer), ...NextPage })) },
    answer: async ({ query }, { reader, now }) => {
      const nowMs = now()
      const all = await reader.run(listExceptions, null)
      const found = all.map((exception) => toView(exception, nowMs)).filter(matches(query, nowMs))
      const after = found.filter(({ id }) => id > (query.cursor ?? 0))
      const page = after.slice(0, query.limit)
      const last = after.length > page.length ? page.at(-1) : undefined
      return jsonAnswer({ exceptions: page, ...(last && { nextCursor: String(last.id) }) })
    },
  }),
  route({
    method: 'POST',
    path: '/exceptions/:id/approve',
    roles: ['approver'],
    handler: 'exceptions',
    summary: 'Approve an exception of another user',
    params: ID,
    answers: {
      200: json('The exception, which is in effect.', ExceptionAnswer),
      409: { description: 'The exception has ended, or needs no approval.' },
    },
    answer: async ({ exchange, params: { id } }, deps) => {
      const actor = exceptionActor(exchange, deps)
      const exception = await deps.writer.run(approveException, { id, ...actor })
      await deps.changed()
      return jsonAnswer(toView(exception, actor.nowMs))
    },
  }),
  route({
    method: 'DELETE',
    path: '/exceptions/:id',
    roles: ['approver', 'author'],
    handler: 'exceptions',
    summary: 'Remove an exception',
    params: ID,
    answers: { 200: json('The removed exception.', ExceptionAnswer) },
    answer: async ({ exchange, params: { id } }, deps) => {
      const actor = exceptionActor(exchange, deps)
      const mayRemoveAny = isApprover(exchange)
      const exception = await deps.writer.run(removeException, { id, mayRemoveAny, ...actor })
      await deps.changed()
      return jsonAnswer(toView(exception, actor.nowMs))
    },
  }),
]

function exceptionActor(exchange: Exchange, deps: ExceptionRoutesDeps): ExceptionActor {
  const { user = NOBODY, ...actor } = actorOf(exchange, deps)
  return { ...actor, user }
}

function isApprover({ caller }: Exchange): boolean {
  return caller.isAdmin || caller.roles?.includes('approver') === true
}

function approversOnly(): AppError {
  return new AppError(
    'forbidden',
    'only the role approver may add exceptions; with policies.exceptions.approval the role author may, too',
  )
}

type View = z.output<typeof ExceptionAnswer>

function toView(exception: PolicyException, nowMs: number): View {
  const { id, package: name, application, pipeline, reason, owner, approver, approvedMs } = exception
  return {
    ...{ id, package: name, application, pipeline, reason, owner },
    createdAt: isoTime(exception.createdMs),
    until: isoTime(exception.untilMs),
    state: stateOf(exception, nowMs),
    approver,
    approvedAt: approvedMs === undefined ? undefined : isoTime(approvedMs),
  }
}

function stateOf(exception: PolicyException, nowMs: number): View['state'] {
  if (exception.untilMs <= nowMs) return 'ended'
  return isApproved(exception) ? 'active' : 'pending'
}

function matches(query: z.output<typeof ListQuery>, nowMs: number): (view: View) => boolean {
  const { package: wanted, application, state, expiring } = query
  const [, amount = '', unit = ''] = /^(\d+)(.)$/.exec(expiring ?? '') ?? []
  const endsByMs = expiring === undefined ? Infinity : nowMs + Number(amount) * (MS[unit] ?? 0)
  return (view) =>
    (wanted === undefined || view.package === wanted) &&
    (application === undefined || view.application?.toLowerCase() === application.toLowerCase()) &&
    (state === undefined || view.state === state) &&
    (expiring === undefined || (view.state === 'active' && Date.parse(view.until) <= endsByMs))
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
