/** A text of at most `length` UTF-16 units and a mark of what is left out, for messages about what others sent. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}
