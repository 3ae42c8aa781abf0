import type { Command } from 'commander'

/** The flags that say which records are meant. */
export interface FilterOptions {
  readonly source?: string
  readonly kind?: string
  readonly application?: string
  readonly pipeline?: string
  readonly execution?: string
  readonly stage?: string
  readonly user?: string
  readonly status?: string
  readonly event?: string
  readonly since?: string
  readonly until?: string
}

/** Adds those flags. */
export function addFilterOptions(command: Command): Command {
  return command
    .option('--source <source>', 'event, gate, policy, analysis, registry, webhook or admin')
    .option('--kind <kind>', 'what happened: gate.approved, orca:pipeline:failed')
    .option('--application <name>', 'only those of one application')
    .option('--pipeline <name>', 'only those of one pipeline')
    .option('--execution <id>', 'only those of one execution')
    .option('--stage <name>', 'only those of one stage')
    .option('--user <name>', 'only what one person did')
    .option('--status <status>', 'only those of one status: SUCCEEDED, TERMINAL, approved')
    .option('--event <id>', 'the record of one event')
    .option('--since <time>', 'not before this time (ISO 8601)')
    .option('--until <time>', 'before this time')
}

/** As the service is asked. */
export function filterQuery(options: FilterOptions): Record<string, string | undefined> {
  const { source, kind, application, pipeline, execution, stage, user, status, event, since, until } = options
  return {
    ...{ source, kind, application, pipeline, stage, user, status },
    executionId: execution,
    eventId: event,
    from: since,
    to: until,
  }
}
