import type { Command } from 'commander'

import type { Definition } from '../../orchestrator/definition.js'
import { withListing } from '../../orchestrator/list-definitions.js'
import { EXIT } from '../session/session.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import type { Session } from '../session/session.js'
import { addConfigOption, addOutputOptions, examples } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import { withStorage } from './connect.js'
import type { StorageOptions } from './connect.js'
import { isOf } from './check-one.js'

interface PullOptions extends StorageOptions, OutputOptions {
  readonly application?: string
}

/** `tidegate pipelines pull`: all definitions as one JSON array, which push and check take. */
export function definePull(command: Command, session: Session): void {
  const { terminal } = session
  addOutputOptions(addConfigOption(command))
    .description('Writes the definitions of all pipelines to standard output, as a JSON array.')
    .option('--storage-url <url>', 'the storage service (else orchestrator.storageUrl)')
    .option('--application <name>', 'only those of one application')
    .addHelpText('after', examples('tidegate pipelines pull > pipelines.json'))
    .action(async (options: PullOptions) => {
      const progress = new Progress(terminal)
      await withStorage(options, terminal, (connection) =>
        withListing(connection, 'pipelines', async ({ definitions }) => {
          let written = 0
          for await (const definition of definitions()) {
            if (!isOf(definition, options.application)) continue
            const line = lineOf(definition, written)
            // Whoever reads slowly is waited for, and whoever has gone needs no more.
            if (!(await terminal.outBytes(Buffer.from(line)))) return
            written += 1
            progress.show(`pulling … ${count(written, 'pipeline')}`)
          }
          terminal.out(written === 0 ? '[]\n' : '\n]\n')
        }),
      )
      progress.end()
      session.exitCode = EXIT.fine
    })
}

function lineOf(definition: Definition, index: number): string {
  return `${index === 0 ? '[' : ','}\n${JSON.stringify(definition)}`
}
