/**
 * Returns the anchors of headings like GitHub: letters, digits, `-` and `_` stay, spaces become
 * `-`, and repetitions get a number.
 */
export function makeSlugs() {
  const used = new Map()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = used.get(slug) ?? 0
    used.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
