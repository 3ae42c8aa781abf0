import type { Command } from 'commander'
import { z } from 'zod'

import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import type { ServiceRequest } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { defineRevisions } from './policy-revisions.js'
import { addWatchOption } from './session/watch.js'
import { examples } from './session/shared-options.js'

const ErrorAnswer = z.object({
  message: z.string(),
  location: z.object({ file: z.string(), row: z.number(), col: z.number() }).optional(),
})
const Answer = z.object({
  revision: z.string(),
  activatedAt: z.string(),
  staged: z.looseObject({ revision: z.string(), since: z.string(), sharePercent: z.number() }).optional(),
  pinned: z.string().optional(),
  problem: z.string().optional(),
  errors: z.array(ErrorAnswer).default([]),
  sources: z.array(
    z.object({
      name: z.string(),
      revision: z.string().optional(),
      activatedAt: z.string().optional(),
      reachedAt: z.string().optional(),
      isStale: z.boolean(),
      problem: z.string().optional(),
      errors: z.array(ErrorAnswer).default([]),
    }),
  ),
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
  const isFine = [answer, ...answer.sources].every(({ problem }) => problem === undefined)
  session.exitCode = isFine ? EXIT.fine : EXIT.denied
}

function sourcesText(answer: z.output<typeof Answer>): string {
  const { revision, activatedAt, staged, pinned, problem, sources } = answer
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
