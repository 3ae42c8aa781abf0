/** The identifier of a commit. */
export const COMMIT_ID = {
  pattern: /^[0-9a-fA-F]{7,64}$/,
  words: 'a commit of 7 to 64 hex digits, or several',
}
/** The number of a request to merge. */
export const MERGE_NUMBER = { pattern: /^\d{1,10}$/, words: 'a number such as 17, or several' }
/** A repository with its owner, as a path or as the URL to clone it from. */
export const REPOSITORY = {
  pattern:
    /^(?:[a-z+]{2,10}:\/\/[^/\s]+\/|[^@/\s]+@[^:/\s]+:)?(?:~?[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)+[A-Za-z0-9_-][A-Za-z0-9_.-]*$/,
  words: 'a repository with its owner, such as tide/shop',
}

/** `tide/shop` of `https://git.example.org/tide/shop.git`, `git@git.example.org:tide/shop` or itself. */
export function repositoryPath(text: string): string {
  const path = text.replace(/^(?:[a-z+]+:\/\/[^/]+\/|[^@/]+@[^:/]+:)/, '')
  return path.replace(/\.git$/, '')
}
