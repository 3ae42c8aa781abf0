import type { Command } from 'commander'

import { printDataRef } from '../../pdp/rego/print-data-ref.js'
import { parseEntrypoint } from '../input/parse-entrypoint.js'
import { watchFiles } from '../session/session.js'
import type { Session } from '../session/session.js'
import {
  addConfigOption,
  addOutputOptions,
  addVersionOptions,
  examples,
  repeatable,
} from '../session/shared-options.js'
import { passOn } from './pass-on.js'
import type { PassOnOptions } from './pass-on.js'
import { addWatchOption } from '../session/watch.js'
import { policyFiles } from '../input/open-policies.js'

interface DepsOptions extends PassOnOptions {
  readonly data?: readonly string[]
  readonly bundle?: readonly string[]
}

/** `tidegate deps`: `opa deps` over what serves. */
export function defineDependencies(command: Command, session: Session): void {
  addConfigOption(addOutputOptions(addWatchOption(addVersionOptions(command))))
    .description(
      'Lists what a rule or package reads of input and data, and the rules that it builds on, with opa deps: over the files that serve, each in the version of Rego that it is written in.',
    )
    .argument('<path>', 'the rule or package, a/b/c or data.a.b.c')
    .argument('[dir...]', 'directories of Rego (else those of the configuration)')
    .addOption(repeatable('-d, --data <dir>', 'a directory of Rego, as for opa deps; may be repeated'))
    .addOption(repeatable('-b, --bundle <dir>', 'the same'))
    .option('--opa <file>', 'the opa program to ask')
    .addHelpText(
      'after',
      examples('tidegate deps static/wait_time/deny', 'tidegate deps data.static policies'),
    )
    .action(
      async (path: string, named: readonly string[], { data = [], bundle = [], ...options }: DepsOptions) => {
        const directories = [...named, ...data, ...bundle]
        await watchFiles(session, [...policyFiles(options, session.terminal), ...directories])
        const reference = printDataRef(parseEntrypoint(path))
        const format = options.format === 'json' ? 'json' : 'pretty'
        const args = ['deps', '--format', format, '--bundle', '.', reference]
        session.exitCode = await passOn(directories, options, session.terminal, args)
      },
    )
}
