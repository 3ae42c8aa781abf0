import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { nearestName } from '../../lib/text/nearest-name.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { DefineCommand } from '../session/session.js'
import { addOutputOptions, examples } from '../session/shared-options.js'
import { wholeProgram } from './all-commands.js'
import type { LoadCommands } from './all-commands.js'
import { manPages } from './man-page.js'

interface ManOptions {
  readonly dir?: string
}

/** `tidegate man [COMMAND…]`: a manual page, made of the commands as they are. */
export const makeDefineMan =
  (loadCommands: LoadCommands): DefineCommand =>
  (command, session) => {
    addOutputOptions(command)
      .description('Prints the manual page of a command, or writes those of all commands into a directory.')
      .argument('[command...]', 'gates list, for example; the program itself without it')
      .option('--dir <dir>', 'write all pages there, as man1/tidegate-….1')
      .addHelpText(
        'after',
        examples('tidegate man decisions list | man -l -', 'tidegate man --dir ~/.local/share/man'),
      )
      .action(async (words: readonly string[], { dir }: ManOptions) => {
        const pages = manPages(await wholeProgram(loadCommands, session))
        if (dir === undefined) {
          const name = ['tidegate', ...words].join('-')
          const page = pages.get(name)
          if (page === undefined) throw wrongUse(unknownPage(words.join(' '), [...pages.keys()]))
          session.terminal.out(page)
        } else {
          await mkdir(join(dir, 'man1'), { recursive: true })
          for (const [name, page] of pages) await writeFile(join(dir, 'man1', `${name}.1`), page)
          session.terminal.out(`${pages.size} pages are in ${join(dir, 'man1')}\n`)
        }
        session.exitCode = EXIT.fine
      })
  }

function unknownPage(written: string, pages: readonly string[]): string {
  const nearest = nearestName(['tidegate', ...written.split(' ')].join('-'), pages)
  const hint =
    nearest === undefined ? '' : `, did you mean '${nearest.replace(/^tidegate-/, '').replaceAll('-', ' ')}'?`
  return `there is no command '${written}'${hint}`
}
