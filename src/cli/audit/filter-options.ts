import { Option } from 'commander'
import type { Command } from 'commander'

import { AUDIT_SOURCES } from '../../store/ports/audit-store.js'
import { addRangeOptions } from '../session/list-options.js'
import type { RangeOptions } from '../session/list-options.js'
import type { AskedValue } from '../session/near-values.js'

/** The flags that say which records are meant. */
export interface FilterOptions extends RangeOptions {
  readonly source?: string
  readonly kind?: string
  readonly application?: string
  readonly pipeline?: string
  readonly execution?: string
  readonly stage?: string
  readonly user?: string
  readonly status?: string
  readonly event?: string
}

/** Adds those flags. */
export function addFilterOptions(command: Command): Command {
  return addRangeOptions(command)
    .addOption(new Option('--source <source>', 'only those of one source').choices(AUDIT_SOURCES))
    .option('--kind <kind>', 'what happened: gate.approved, orca:pipeline:failed')
    .option('--application <name>', 'only those of one application')
    .option('--pipeline <name>', 'only those of one pipeline')
    .option('--execution <id>', 'only those of one execution')
    .option('--stage <name>', 'only those of one stage')
    .option('--user <name>', 'only what one person did')
    .option('--status <status>', 'only those of one status: SUCCEEDED, TERMINAL, approved')
    .option('--event <id>', 'the record of one event')
}

/** As the service is asked. */
export function filterQuery(options: FilterOptions): Record<string, string | undefined> {
  const { source, kind, application, pipeline, execution, stage, user, status, event, since, until } = options
  return {
    ...{ source, kind, application, pipeline, stage, user, status },
    executionId: execution,
    eventId: event,
    ...{ since, until },
  }
}

/** What the flags are held against in a record. */
export function filterFlags(options: FilterOptions): readonly AskedValue[] {
  const { kind, application, pipeline, execution, stage, user, status } = options
  const members = { kind, application, pipeline, stage, user, status }
  const own = Object.entries(members).map(([member, value]) => ({ flag: `--${member}`, value, member }))
  return [...own, { flag: '--execution', value: execution, member: 'executionId' }]
}
