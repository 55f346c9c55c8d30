import { lineNumbers } from './lossless/gutter.ts'
import type { ToolCall } from './tool-results.ts'

/** Words in names of tools that read a file or show its changes. */
const READING = new Set(['read', 'view', 'cat', 'open', 'nl', 'diff', 'blame', 'contents', 'content', 'file'])
/** Matches shell commands that print a file or a change verbatim, at the start of a command. */
const SHELL_READER =
  /(?:^|[;&({"'`\n])\s*(?:sudo\s+)?(?:cat|head|tail|sed|awk|nl|less|more|bat|batcat|open|type|strings|diff|colordiff)\s|-exec\s+cat\s|\bxargs\s+(?:-\S+\s+)*(?:cat|head|tail)\b|\bgit\b[^\n;&|]*\s(?:show|diff|blame|log|cat-file|stash|format-patch)\b|\b(?:open|readFile|readFileSync|read_text|file_get_contents)\(|\bGet-Content\b/
/** Names of arguments that hold a shell command. */
const COMMANDS = ['command', 'cmd', 'script', 'code', 'args', 'commands']
/** Matches a file path: with a folder or an extension, and no blank; URLs do not match. */
const PATH = /^(?![a-z][\w+.-]*:\/\/(?<!file:\/\/))[^\s@]{0,300}?(?:[/\\][^\s/\\]+|[^\s/\\]\.[A-Za-z]\w{0,7})$/
const PATH_NAME = /^(?:file|path|file_?(?:path|name)|(?:absolute|relative|notebook|target|source)_?(?:path|file)|uri)$/i
/** Matches the head of a hunk or of a file in a diff. */
const DIFF = /^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|--- [^\n]+\n\+\+\+ )/m
const LOOKED_AT = 2000

/**
 * Tests for a result that shows a file, or changes of one, verbatim: by the tool's name, by its command, by a path
 * argument, by line numbers or hunks in the text. An agent edits files by their exact text, so that layout is
 * significant there.
 */
export function showsFile(call: Pick<ToolCall, 'name' | 'input'> | undefined, text: string): boolean {
  return (
    (call !== undefined && (isReader(call.name) || readsInShell(call.input) || hasPath(call.input))) ||
    looksLikeFile(text)
  )
}

function isReader(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').split(/[^A-Za-z]+| /)
  return words.some((word) => READING.has(word.toLowerCase()))
}

function readsInShell(input: ToolCall['input']): boolean {
  return COMMANDS.some((key) => {
    const given = input[key]
    if (typeof given === 'string') return SHELL_READER.test(given)
    return Array.isArray(given) && given.some((part) => typeof part === 'string' && SHELL_READER.test(part))
  })
}

function hasPath(input: ToolCall['input']): boolean {
  return Object.entries(input).some(
    ([key, value]) => typeof value === 'string' && value !== '' && (PATH_NAME.test(key) || PATH.test(value)),
  )
}

function looksLikeFile(text: string): boolean {
  const part = text.slice(0, LOOKED_AT)
  return DIFF.test(part) || (/^ *\d/m.test(part) && lineNumbers(part.split('\n')) !== undefined)
}
