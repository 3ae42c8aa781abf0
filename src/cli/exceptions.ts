import type { Command } from 'commander'
import { Option } from 'commander'
import { z } from 'zod'

import { textTable } from './output/text-table.js'
import { localTime } from './output/local-time.js'
import { addWatchOption } from './session/watch.js'
import { addPageOptions, endOption, moreText } from './session/list-options.js'
import type { PageOptions } from './session/list-options.js'
import { makeServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, outJson } from './session/shared-options.js'
import { printable } from '../lib/text/shown-text.js'

const Exception = z.looseObject({
  id: z.number(),
  package: z.string(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  reason: z.string(),
  owner: z.string(),
  until: z.string(),
  state: z.string(),
  approver: z.string().optional(),
})
type Exception = z.output<typeof Exception>
const Page = z.object({ exceptions: z.array(Exception), nextCursor: z.string().optional() })
const STATES = ['pending', 'active', 'ended']

interface AddOptions extends ServiceOptions {
  readonly package: string
  readonly application?: string
  readonly pipeline?: string
  readonly reason: string
  readonly until: string
}

interface ListOptions extends ServiceOptions, PageOptions {
  readonly package?: string
  readonly application?: string
  readonly state?: string
  readonly expiring?: string
}

/** `tidegate exceptions`: exceptions from policies at a service. */
export function defineExceptions(command: Command, session: Session): void {
  command
    .description('Excuses denials of a package for a time. Denials become warnings that name the exception.')
    .addHelpText(
      'after',
      examples(
        "tidegate exceptions add --package static.wait_time --application shop --reason 'moves to gates' --until 14d",
        'tidegate exceptions list --expiring 7d',
      ),
    )
  defineAdd(command.command('add'), session)
  defineList(command.command('list'), session)
  defineChange(command.command('approve'), session, 'approve')
  defineChange(command.command('remove'), session, 'remove')
}

/** `tidegate exceptions add`: adds an exception. */
function defineAdd(command: Command, session: Session): void {
  addServiceOptions(command)
    .description('Adds an exception. The user of the token is its owner.')
    .requiredOption('--package <name>', 'package whose denials are excused, such as static.wait_time')
    .option('--application <name>', 'only this application')
    .option('--pipeline <name>', 'only this pipeline of the application, by name or id')
    .requiredOption('--reason <text>', 'why, for the trail and everybody who reads the list')
    .addOption(
      endOption('--until <end>', 'its end: a date, or a duration such as 12h or 14d').makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      examples("tidegate exceptions add --package static.wait_time --reason 'release freeze' --until 12h"),
    )
    .action(async (options: AddOptions) => {
      const { package: name, application, pipeline, reason, until } = options
      const client = await makeServiceClient(options, session.terminal)
      const body = { package: name, application, pipeline, reason, until }
      const request = { method: 'POST', path: '/exceptions', body } as const
      report(await client.request(Exception, request), options, session)
    })
}

/** `tidegate exceptions list`: lists exceptions. */
function defineList(command: Command, session: Session): void {
  addPageOptions(addServiceOptions(addWatchOption(command)))
    .description('Lists exceptions, also those that ended in the last 30 days.')
    .option('--package <name>', 'only this package')
    .option('--application <name>', 'only this application')
    .addOption(new Option('--state <state>', 'only exceptions in this state').choices(STATES))
    .option('--expiring <duration>', 'only active ones that end within this duration, such as 7d')
    .addHelpText('after', examples('tidegate exceptions list', 'tidegate exceptions list --expiring 7d'))
    .action(async (options: ListOptions) => {
      const { package: name, application, state, expiring, limit, cursor } = options
      const client = await makeServiceClient(options, session.terminal)
      const query = { package: name, application, state, expiring, limit, cursor }
      const page = await client.request(Page, { path: '/exceptions', query })
      if (options.format === 'json') outJson(session.terminal, page)
      else session.terminal.out(listText(page, session.terminal.columns))
      session.exitCode = EXIT.fine
    })
}

/** `tidegate exceptions approve` and `remove`. */
function defineChange(command: Command, session: Session, verb: 'approve' | 'remove'): void {
  addServiceOptions(command.argument('<id>', 'id from the list'))
    .description(
      verb === 'approve'
        ? 'Approves an exception of another user.'
        : 'Removes an exception, which ends it now.',
    )
    .addHelpText('after', examples(`tidegate exceptions ${verb} 12`))
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/exceptions/${encodeURIComponent(id)}`
      const request =
        verb === 'approve'
          ? ({ method: 'POST', path: `${path}/approve` } as const)
          : ({ method: 'DELETE', path } as const)
      const exception = await client.request(Exception, request)
      report(verb === 'approve' ? exception : { ...exception, state: 'removed' }, options, session)
    })
}

function report(exception: Exception, { format }: ServiceOptions, session: Session): void {
  if (format === 'json') outJson(session.terminal, exception)
  else session.terminal.out(`${printable(exceptionLine(exception))}\n`)
  session.exitCode = EXIT.fine
}

function exceptionLine({ id, package: name, application, pipeline, until, state }: Exception): string {
  const scope = [application, pipeline].filter((part) => part !== undefined).join('/')
  return `exception ${id} for ${name}${scope === '' ? '' : ` in ${scope}`} until ${localTime(until)}: ${state}`
}

function listText({ exceptions, nextCursor }: z.output<typeof Page>, columns = Infinity): string {
  if (exceptions.length === 0) return 'no exceptions\n'
  const heads = ['id', 'package', 'application', 'pipeline', 'state', 'until', 'owner', 'approver', 'reason']
  const rows = exceptions.map((exception) => {
    const { id, package: name, application = '', pipeline = '', state, until, owner } = exception
    return [
      ...[String(id), name, application, pipeline, state, localTime(until), owner],
      ...[exception.approver ?? '', exception.reason],
    ]
  })
  return textTable([heads, ...rows], [], columns) + moreText(nextCursor)
}
