/** Records the sources of a bundle that was just written. */
export function writeStamp(): void
/** The folder to run. */
export function folderToRun(): 'dist' | 'src'
