import type { Command } from 'commander'
import { Document, isCollection, isScalar } from 'yaml'

import { configKeys, configurationPage } from '../config/config-keys.js'
import { traceConfig } from '../config/load-config.js'
import type { TracedConfig } from '../config/load-config.js'
import { CONFIG_FILE_VARIABLE } from '../config/read-environment.js'
import { shownConfig } from '../config/shown-config.js'
import { EXIT, watchFiles } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addConfigOption, addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'

interface ConfigOptions extends OutputOptions {
  readonly config?: string
  readonly reference?: true
}

/** `tidegate config`: prints the effective configuration. */
export function defineConfig(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(addConfigOption(command)))
    .description(
      'Prints the effective configuration from defaults, file and environment, with the origin of each value. Token hashes are shortened. Exits with 2 and lists every problem if it is invalid.',
    )
    .option('--reference', 'print the reference of all keys as Markdown')
    .addHelpText('after', examples('tidegate config --config tidegate.yaml', 'tidegate config --reference'))
    .action(async (options: ConfigOptions) => {
      await watchFiles(session, [options.config ?? session.terminal.env[CONFIG_FILE_VARIABLE]])
      session.exitCode = printConfig(options, session.terminal)
    })
}

function printConfig({ format, config: file, reference }: ConfigOptions, terminal: Terminal): ExitCode {
  if (reference) terminal.out(configurationPage(configKeys))
  else {
    const traced = traceConfig({ file, env: terminal.env })
    if (format === 'json') outJson(terminal, shownConfig(traced.config))
    else terminal.out(configYaml(traced))
  }
  return EXIT.fine
}

/** Returns YAML with comments on the origin of values that are not defaults. */
function configYaml({ config, originOf }: TracedConfig): string {
  const document = new Document(shownConfig(config))
  for (const { path } of configKeys) {
    const origin = originOf(path)
    const node = document.getIn(path, true)
    if (origin === undefined) continue
    if (isScalar(node)) node.comment = ` ${origin}`
    if (isCollection(node)) node.commentBefore = ` ${origin}`
  }
  return document.toString({ lineWidth: 0 })
}
