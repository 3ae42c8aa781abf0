import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from './output/local-time.js'
import { count, textTable } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import type { ServiceRequest } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

const Activations = z
  .array(
    z.looseObject({
      at: z.string(),
      source: z.string(),
      signer: z.string().optional(),
      by: z.string(),
      impact: z
        .looseObject({ comparison: z.string(), compared: z.number(), flips: z.number(), errors: z.number() })
        .optional(),
    }),
  )
  .default([])
type Activation = z.output<typeof Activations>[number]
const History = z.object({
  staged: z
    .looseObject({
      revision: z.string(),
      since: z.string(),
      sharePercent: z.number(),
      compared: z.number().optional(),
      flips: z.number().default(0),
      errors: z.number().default(0),
    })
    .optional(),
  pinned: z.object({ revision: z.string(), since: z.string(), user: z.string().optional() }).optional(),
  revisions: z.array(
    z.object({
      revision: z.string(),
      since: z.string(),
      until: z.string().optional(),
      isServing: z.boolean(),
      hasServed: z.boolean().default(true),
      activations: Activations,
    }),
  ),
})
const Diff = z.looseObject({ activations: Activations, files: z.array(z.looseObject({ diff: z.string() })) })

/** `tidegate policies history`, `diff`, `pin`, `rollback`, `unpin`, `promote` and `abandon`. */
export function defineRevisions(command: Command, session: Session): void {
  addServiceOptions(addWatchOption(command.command('history')))
    .description(
      'Lists the stored revisions of the policies by when each began to serve, newest first. A pinned revision keeps its place and is named above.',
    )
    .addHelpText('after', examples('tidegate policies history'))
    .action((options: ServiceOptions) => showHistory(options, { path: '/policies/revisions' }, session))
  addServiceOptions(command.command('diff'))
    .argument('<base>', 'the earlier revision')
    .argument('<revision>', 'the revision that is compared with it')
    .description('Shows the files that differ between two stored revisions, as unified diffs.')
    .addHelpText('after', examples('tidegate policies diff 4f1c 9ab2'))
    .action((base: string, revision: string, options: ServiceOptions) =>
      showDiff(options, { base, revision }, session),
    )
  addServiceOptions(command.command('pin'))
    .argument('<revision>', 'a stored revision')
    .description(
      'Serves a stored revision until it is unpinned, also after a restart. Changed files and downloaded bundles wait. Requires the role admin.',
    )
    .addHelpText('after', examples('tidegate policies pin 4f1c --token-file admin-token'))
    .action((revision: string, options: ServiceOptions) =>
      showHistory(options, { method: 'POST', path: '/policies/pin', body: { revision } }, session),
    )
  const changes = [
    ['rollback', 'Pins the revision that served before the current one. Requires the role admin.'],
    ['unpin', 'Serves the configured policies again. Requires the role admin.'],
    ['promote', 'Promotes the staged revision, which then answers all requests. Requires the role admin.'],
    [
      'abandon',
      'Takes the staged revision back. The previous one answers all requests. Requires the role admin.',
    ],
  ] as const
  for (const [name, description] of changes)
    addServiceOptions(command.command(name))
      .description(description)
      .addHelpText('after', examples(`tidegate policies ${name} --token-file admin-token`))
      .action((options: ServiceOptions) =>
        showHistory(options, { method: 'POST', path: `/policies/${name}` }, session),
      )
}

async function showHistory(
  options: ServiceOptions,
  request: ServiceRequest,
  session: Session,
): Promise<void> {
  await printAnswer(options, { schema: History, request, textOf: historyText }, session)
  session.exitCode = EXIT.fine
}

function historyText({ pinned, staged, revisions }: z.output<typeof History>): string {
  const by = pinned?.user === undefined ? '' : ` by ${pinned.user}`
  const note =
    pinned === undefined ? '' : `pinned to ${pinned.revision} since ${localTime(pinned.since)}${by}\n`
  const stage = staged === undefined ? '' : stageText(staged)
  if (revisions.length === 0) return `${note}${stage}no revisions are stored (decisions.maxSourcesBytes)\n`
  const rows = revisions.map((kept) => {
    const { revision, since, until, activations } = kept
    const { source = '', signer = '', by = '', impact } = activations.at(-1) ?? {}
    return [
      ...[revision, localTime(since), until === undefined ? '' : localTime(until)],
      stateText(kept, pinned?.revision, staged?.revision),
      ...[source, signer, by, impactText(impact)],
    ]
  })
  const heads = ['revision', 'since', 'until', 'state', 'source', 'signer', 'by', 'impact']
  return note + stage + textTable([heads, ...rows])
}

type Staged = NonNullable<z.output<typeof History>['staged']>

function stageText({ revision, since, sharePercent, compared, flips, errors }: Staged): string {
  const counts =
    compared === undefined
      ? 'nothing compared yet'
      : `${count(flips, 'flip')}, ${count(errors, 'error')} of ${compared}`
  return `${revision} answers ${sharePercent} % since ${localTime(since)}: ${counts}\n`
}

function stateText(
  { revision, isServing, hasServed }: z.output<typeof History>['revisions'][number],
  pinned: string | undefined,
  staged: string | undefined,
): string {
  if (isServing) return pinned === revision ? 'serves, pinned' : 'serves'
  if (revision === staged) return 'staged'
  return hasServed ? '' : 'not promoted'
}

function impactText(impact: Activation['impact']): string {
  if (impact === undefined) return ''
  const { flips, errors, compared, comparison } = impact
  return `${count(flips, 'flip')}, ${count(errors, 'error')} of ${compared} (${comparison})`
}

function activationText({ at, source, signer, by, impact }: Activation): string {
  const signed = signer === undefined ? '' : `, signed by ${signer}`
  const effect = impact === undefined ? '' : `, ${impactText(impact)}`
  return `# activated ${localTime(at)} from ${source} by ${by}${signed}${effect}\n`
}

async function showDiff(
  options: ServiceOptions,
  query: { readonly base: string; readonly revision: string },
  session: Session,
): Promise<void> {
  const request = { path: '/policies/revisions/diff', query }
  await printAnswer(options, { schema: Diff, request, textOf: diffText }, session)
  session.exitCode = EXIT.fine
}

function diffText({ activations, files }: z.output<typeof Diff>): string {
  const diffs = files.map(({ diff }) => diff).join('') || 'no differences\n'
  return activations.map(activationText).join('') + diffs
}
