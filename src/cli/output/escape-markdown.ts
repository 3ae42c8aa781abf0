import { oneLine } from './display-width.js'

/**
 * Escapes a text for a cell of a table: HTML and Markdown's punctuation become visible characters.
 * A zero-width space keeps names and numbers from notifying people and linking issues.
 */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*_{}[\]()<>~|&!]/g, (character) =>
      character === '|' ? '\\|' : `&#${character.charCodeAt(0)};`,
    )
    .replaceAll(/[@#](?!\d+;)/g, (character) => `${character}&#8203;`)
    .replaceAll('://', ':&#8203;//')
}
