import { createTwoFilesPatch } from 'diff'
import { z } from 'zod'

import { RevisionActivation, type Policies } from '../../../rego/index.js'
import type { StageCounts } from '../../../distribution/judge-stage.js'
import type { ChangedFile, RevisionControl } from '../../../distribution/revision-control.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import type { BodyLimits } from '../../input/body-reader.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface RevisionRoutesDeps extends BodyLimits {
  readonly control: RevisionControl
  readonly policies: Pick<Policies, 'staged'>
  /** Counts of the decisions of the stage. */
  readonly stage: { readonly counts: () => StageCounts | undefined }
  readonly now: () => number
}

const MAX_REVISION = 1000
/** Time for the differences of all files, which grows with the square of the changed lines. */
const MAX_DIFF_MS = 200
const revision = z.string().min(1).max(MAX_REVISION)
const Body = z.strictObject({ revision: revision.describe('A stored revision.') })
const Pinned = z.object({
  revision: z.string(),
  since: Time.describe('When it was pinned.'),
  user: z.string().optional().describe('Who pinned it.'),
})
const Activation = RevisionActivation.omit({ atMs: true }).extend({
  at: Time,
  source: z.string().describe('A source, `files` or `pin`.'),
  signer: z.string().optional().describe('The key of the verified signature.'),
  by: z.string().describe('The person who requested it, or the cause if nobody did.'),
})
const Activations = z.array(Activation).describe('How it began to serve, the last activation last.')
const Staged = z
  .object({
    revision: z.string(),
    since: Time,
    sharePercent: z.int(),
    compared: z.int().optional().describe('Decisions that both revisions answered; absent at first.'),
    flips: z.int().optional().describe('Decisions with another answer.'),
    errors: z.int().optional().describe('Decisions that only the staged revision could not answer.'),
  })
  .describe('The revision that answers a share of requests.')
const History = z.object({
  pinned: Pinned.optional(),
  staged: Staged.optional(),
  revisions: z.array(
    z.object({
      revision: z.string(),
      since: Time.describe('When it served first.'),
      until: Time.optional().describe('When it served last; absent for the one that serves.'),
      isServing: z.boolean(),
      hasServed: z.boolean().describe('False for a revision that answered only a share of requests.'),
      activations: Activations,
    }),
  ),
})
const Diff = z.object({
  base: z.string(),
  revision: z.string(),
  activations: Activations.describe('How the revision began to serve.'),
  files: z.array(
    z.object({
      file: z.string(),
      change: z.enum(['added', 'changed', 'removed']),
      diff: z.string().describe('Unified diff.'),
    }),
  ),
})

const { route } = routesOf<RevisionRoutesDeps>()

/** The stored revisions of the policies: their history, differences, and which one is pinned. */
export const revisionRoutes = [
  route({
    method: 'GET',
    path: '/policies/revisions',
    roles: ['auditor', 'author'],
    handler: 'policies',
    summary:
      'The stored revisions of the policies by when each began to serve, newest first, and the pinned one',
    answers: { 200: json('The revisions.', History) },
    answer: async (_, deps) => jsonAnswer(await describeHistory(deps)),
  }),
  route({
    method: 'GET',
    path: '/policies/revisions/diff',
    roles: ['auditor', 'author'],
    handler: 'policies',
    summary: 'The files that differ between two stored revisions',
    query: z.strictObject({
      base: revision.describe('The earlier revision.'),
      revision: revision.describe('The revision that is compared with it.'),
    }),
    answers: { 200: json('The changed files.', Diff), 404: { description: 'A revision is not stored.' } },
    answer: async ({ query: { base, revision: compared } }, { control }) => {
      const files = await control.diff(base, compared)
      const endMs = performance.now() + MAX_DIFF_MS
      return jsonAnswer({
        ...{ base, revision: compared },
        activations: (await control.history())
          .filter((kept) => kept.revision === compared)
          .flatMap(({ activations }) => activations.map(describeActivation)),
        files: files.map((changed) => describeChange(changed, base, compared, endMs)),
      })
    },
  }),
  route({
    method: 'POST',
    path: '/policies/pin',
    roles: ['admin'],
    handler: 'policies',
    summary: 'Serve a stored revision until it is unpinned, also after a restart',
    body: jsonBody(Body),
    answers: {
      200: json('The revisions afterwards.', History),
      404: { description: 'The revision is not stored.' },
      409: { description: 'The revision is stored in part.' },
    },
    answer: async ({ exchange, body }, deps) => {
      await deps.control.pin(body.revision, actorOf(exchange, deps))
      return jsonAnswer(await describeHistory(deps))
    },
  }),
  route({
    method: 'POST',
    path: '/policies/rollback',
    roles: ['admin'],
    handler: 'policies',
    summary: 'Pin the revision that served before the current one',
    answers: {
      200: json('The revisions afterwards.', History),
      404: { description: 'The revision is not stored.' },
      409: { description: 'No earlier revision is stored, or only in part.' },
    },
    answer: async ({ exchange }, deps) => {
      await deps.control.rollback(actorOf(exchange, deps))
      return jsonAnswer(await describeHistory(deps))
    },
  }),
  ...(['promote', 'abandon'] as const).map((name) =>
    route({
      method: 'POST',
      path: `/policies/${name}`,
      roles: ['admin'],
      handler: 'policies',
      summary:
        name === 'promote'
          ? 'Promote the staged revision, which then answers all requests'
          : 'Take the staged revision back, so that the previous one answers all requests',
      answers: {
        200: json('The revisions afterwards.', History),
        409: { description: 'No revision is staged.' },
      },
      answer: async ({ exchange }, deps) => {
        const actor = actorOf(exchange, deps)
        const reason = `requested by ${actor.user ?? actor.origin}`
        await deps.control.endStage({ isPromoted: name === 'promote', reason }, actor)
        return jsonAnswer(await describeHistory(deps))
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/policies/unpin',
    roles: ['admin'],
    handler: 'policies',
    summary: 'Serve the configured policies again',
    answers: {
      200: json('The revisions afterwards.', History),
      409: { description: 'No revision is pinned.' },
    },
    answer: async ({ exchange }, deps) => {
      await deps.control.unpin(actorOf(exchange, deps))
      return jsonAnswer(await describeHistory(deps))
    },
  }),
]

type HistoryDeps = Pick<RevisionRoutesDeps, 'control' | 'policies' | 'stage'>

async function describeHistory(deps: HistoryDeps): Promise<z.output<typeof History>> {
  const { control } = deps
  // Read before the history, which so includes the end of a stage that is not shown.
  const [{ pinned }, staged] = [control, describeStaged(deps)]
  const revisions = await control.history()
  return {
    ...(pinned !== undefined && { pinned: describePinned(pinned) }),
    ...staged,
    revisions: revisions.map(({ revision: name, sinceMs, untilMs, isServing, hasServed, activations }) => ({
      ...{ revision: name, since: timeOf(sinceMs), isServing, hasServed },
      ...(!isServing && { until: timeOf(untilMs) }),
      activations: activations.map(describeActivation),
    })),
  }
}

function describePinned({
  revision: name,
  sinceMs,
  user,
}: NonNullable<RevisionControl['pinned']>): z.output<typeof Pinned> {
  return { revision: name, since: timeOf(sinceMs), ...(user !== undefined && { user }) }
}

function describeStaged({ policies: { staged }, stage }: Pick<HistoryDeps, 'policies' | 'stage'>): {
  staged?: z.output<typeof Staged>
} {
  if (staged === undefined) return {}
  const { snapshot, since, sharePercent } = staged
  const { compared, flips, errors } = stage.counts() ?? {}
  const counts = { compared, flips, errors }
  return { staged: { revision: snapshot.revision, since: since.toISOString(), sharePercent, ...counts } }
}

function describeActivation({ atMs, ...rest }: RevisionActivation): z.output<typeof Activation> {
  return { at: timeOf(atMs), ...rest }
}

function describeChange(
  { file, before, after }: ChangedFile,
  from: string,
  to: string,
  endMs: number,
): z.output<typeof Diff>['files'][number] {
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  const timeout = Math.max(1, endMs - performance.now())
  const diff = createTwoFilesPatch(file, file, before ?? '', after ?? '', from, to, { timeout })
  return { file, change, diff: diff ?? `Files ${file} differ too much to compare them by line\n` }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
