import type { Command } from 'commander'
import { z } from 'zod'
import { localTime } from './output/local-time.js'
import { textTable, count } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import type { ServiceRequest } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

const ErrorAnswer = z.object({
  message: z.string(),
  location: z.object({ file: z.string(), row: z.number(), col: z.number() }).optional(),
})
const Source = z.object({
  name: z.string(),
  revision: z.string().optional(),
  activatedAt: z.string().optional(),
  reachedAt: z.string().optional(),
  isStale: z.boolean(),
  problem: z.string().optional(),
  errors: z.array(ErrorAnswer).default([]),
})
const Answer = z.object({
  revision: z.string(),
  activatedAt: z.string(),
  staged: z.looseObject({ revision: z.string(), since: z.string(), sharePercent: z.number() }).optional(),
  pinned: z.string().optional(),
  problem: z.string().optional(),
  errors: z.array(ErrorAnswer).default([]),
  sources: z.array(Source),
  discovery: Source.optional(),
})

/** `tidegate policies`: commands about the policies of a running service. */
export function definePolicies(command: Command, session: Session): void {
  command
    .description('Shows, refreshes and pins the policies of a running service.')
    .addHelpText(
      'after',
      examples('tidegate policies packages', 'tidegate policies refresh', 'tidegate policies history'),
    )
  definePackages(command.command('packages'), session)
  addServiceOptions(addWatchOption(command.command('sources')))
    .description('Shows the revisions that serve and where they come from.')
    .addHelpText('after', examples('tidegate policies sources', 'tidegate policies sources --format json'))
    .action((options: ServiceOptions) => showSources(options, { path: '/policies/sources' }, session))
  addServiceOptions(command.command('refresh'))
    .description(
      'Downloads and loads the policies now, or reads the directories again. Exits with 1 if something failed. Requires the role admin.',
    )
    .addHelpText('after', examples('tidegate policies refresh --token-file admin-token'))
    .action((options: ServiceOptions) =>
      showSources(options, { method: 'POST', path: '/policies/refresh' }, session),
    )
  defineRevisions(command, session)
}

const Packages = z.object({
  packages: z.array(
    z.looseObject({
      package: z.string(),
      level: z.string(),
      warns: z.boolean(),
      levels: z.array(
        z.looseObject({
          level: z.string(),
          from: z.string(),
          applications: z.array(z.string()).default([]),
          until: z.string().optional(),
          hasEnded: z.boolean(),
        }),
      ),
      exceptions: z.number(),
    }),
  ),
})
type Stated = z.output<typeof Packages>['packages'][number]['levels'][number]

/** `tidegate policies packages`: lists packages with their levels. */
function definePackages(command: Command, session: Session): void {
  addServiceOptions(addWatchOption(command))
    .description('Lists the packages that deny or warn, with their levels and exceptions.')
    .addHelpText('after', examples('tidegate policies packages'))
    .action(async (options: ServiceOptions) => {
      const textOf = (answer: z.output<typeof Packages>): string =>
        packagesText(answer, session.terminal.columns)
      const request = { path: '/policies/packages' }
      await printAnswer(options, { schema: Packages, request, textOf }, session)
      session.exitCode = EXIT.fine
    })
}

function packagesText({ packages }: z.output<typeof Packages>, columns: number | undefined): string {
  const heads = ['package', 'level', 'warn rule', 'exceptions', 'stated']
  const rows = packages.map(({ package: name, level, warns, levels, exceptions }) => [
    ...[name, level, warns ? 'yes' : '', exceptions === 0 ? '' : String(exceptions)],
    levels.map(statedText).join('; '),
  ])
  return textTable([heads, ...rows], [], columns)
}

function statedText({ level, from, applications, until, hasEnded }: Stated): string {
  const scope = applications.length === 0 ? '' : ` for ${applications.join(', ')}`
  const end = until === undefined ? '' : ` until ${localTime(until)}${hasEnded ? ' (ended)' : ''}`
  return `${level}${scope}${end} by ${from}`
}

async function showSources(
  options: ServiceOptions,
  request: ServiceRequest,
  session: Session,
): Promise<void> {
  const answer = await printAnswer(options, { schema: Answer, request, textOf: sourcesText }, session)
  const isFine = [answer, ...polledIn(answer)].every(({ problem }) => problem === undefined)
  session.exitCode = isFine ? EXIT.fine : EXIT.denied
}

/** The discovery bundle is first, because it names the others. */
function polledIn({ discovery, sources }: z.output<typeof Answer>): z.output<typeof Source>[] {
  return discovery === undefined ? sources : [discovery, ...sources]
}

function sourcesText(answer: z.output<typeof Answer>): string {
  const { revision, activatedAt, staged, pinned, problem } = answer
  const sources = polledIn(answer)
  const stage =
    staged === undefined
      ? ''
      : `revision ${staged.revision} answers ${staged.sharePercent} % since ${localTime(staged.since)} (staged)\n`
  const all = `revision ${revision} since ${localTime(activatedAt)}${pinned === undefined ? '' : ' (pinned)'}\n${stage}`
  const failed =
    problem === undefined ? '' : `not loaded: ${problem}\n${answer.errors.map(errorLine).join('')}`
  if (sources.length === 0) return all + failed
  const rows = sources.map((source) => [
    source.name,
    source.revision ?? '',
    source.activatedAt === undefined ? '' : localTime(source.activatedAt),
    source.reachedAt === undefined ? 'never' : localTime(source.reachedAt),
    source.isStale ? 'stale' : source.problem === undefined ? 'current' : 'failed',
    source.problem ?? '',
  ])
  const errors = sources.flatMap((source) => source.errors.map(errorLine)).join('')
  return `${all}${failed}${textTable([['source', 'revision', 'since', 'reached', 'state', 'problem'], ...rows])}${errors}`
}

function errorLine({ message, location }: z.output<typeof ErrorAnswer>): string {
  const place = location === undefined ? '' : `${location.file}:${location.row}:${location.col}: `
  return `${place}${message}\n`
}

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
function defineRevisions(command: Command, session: Session): void {
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
