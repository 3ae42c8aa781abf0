import type { Command } from 'commander'

import { ExportEnd } from '../../audit/export-trail.js'
import { AppError } from '../../errors/app-error.js'
import { EXPORT_FORMATS } from '../../store/ports/audit-export.js'
import type { ExportFormat } from '../../store/ports/audit-export.js'
import { EXIT } from '../session/session.js'
import { Progress } from '../output/progress.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { AddressOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { addFormerFormOption, examples, fileForm } from '../session/shared-options.js'
import type { FileFormOptions } from '../session/shared-options.js'
import { addFilterOptions, filterQuery } from './filter-options.js'
import type { FilterOptions } from './filter-options.js'

interface ExportOptions extends AddressOptions, FileFormOptions<ExportFormat>, FilterOptions {
  readonly bodies?: true
}

const BYTES_PER_MIB = 1024 * 1024

/** `tidegate audit export`: all records that match, on standard output. */
export function defineExport(command: Command, session: Session): void {
  const { terminal } = session
  addFormerFormOption(addFilterOptions(addServiceOptions(command, EXPORT_FORMATS)), EXPORT_FORMATS)
    .description('Writes all records that match to standard output, oldest first.')
    .option('--bodies', 'with their bodies')
    .addHelpText('after', examples('tidegate audit export --format csv --application shop > shop.csv'))
    .action(async (options: ExportOptions) => {
      const client = await makeServiceClient(options, terminal)
      const format = fileForm(options, EXPORT_FORMATS, terminal)
      const query = { ...filterQuery(options), format, bodies: options.bodies }
      const progress = new Progress(terminal)
      const end = new ExportEnd()
      let bytes = 0
      let isRead = true
      for await (const chunk of await client.stream({ path: '/audit/export', query })) {
        bytes += chunk.byteLength
        end.pass(chunk)
        progress.show(`exporting … ${Math.floor(bytes / BYTES_PER_MIB)} MiB`)
        isRead = await terminal.outBytes(chunk)
        // Leaving the loop ends the request too.
        if (!isRead) break
      }
      progress.end()
      // Who goes away does not want the rest.
      if (isRead && end.records === undefined) throw notWhole(client.shown)
      session.exitCode = EXIT.fine
    })
}

function notWhole(url: string): AppError {
  return new AppError(
    'unavailable',
    `the export from ${url} has no last line that says how many records there are: what came is not all`,
  )
}
