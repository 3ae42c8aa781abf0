import type { Command } from 'commander'

import { watchFiles } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addConfigOption, addOutputOptions, addVersionOptions, examples } from '../session/shared-options.js'
import { openOpa, passOn, runIn } from './pass-on.js'
import type { PassOnOptions } from './pass-on.js'
import { addWatchOption } from '../session/watch.js'
import { policyFiles } from '../input/open-policies.js'

interface InspectOptions extends PassOnOptions {
  readonly annotations?: true
}

/** `tidegate inspect`: `opa inspect` over what serves, or over a bundle. */
export function defineInspect(command: Command, session: Session): void {
  addConfigOption(addOutputOptions(addWatchOption(addVersionOptions(command))))
    .description(
      'Lists packages, files and annotations with opa inspect: of the files that serve, each in the version of Rego that it is written in, or of a bundle.',
    )
    .argument('[path...]', 'directories of Rego, or one bundle (else the directories of the configuration)')
    .option('-a, --annotations', 'list the metadata of packages and rules')
    .option('--opa <file>', 'the opa program to inspect with')
    .addHelpText(
      'after',
      examples('tidegate inspect policies --annotations', 'tidegate inspect bundle.tar.gz'),
    )
    .action(async (paths: readonly string[], options: InspectOptions) => {
      const { terminal } = session
      await watchFiles(session, [...policyFiles(options, terminal), ...paths])
      const format = options.format === 'json' ? 'json' : 'pretty'
      const flags = ['--format', format, ...(options.annotations ? ['--annotations'] : [])]
      const [bundle = ''] = paths
      if (paths.length === 1 && /\.(?:tar\.gz|tgz)$/.test(bundle)) {
        const { opa } = await openOpa(options, terminal)
        session.exitCode = await runIn(opa, ['inspect', ...flags, bundle], terminal, '.')
      } else session.exitCode = await passOn(paths, options, terminal, ['inspect', ...flags, '.'])
    })
}
