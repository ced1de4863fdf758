// A button that opens the file dialog.
import { useRef } from 'preact/hooks';
import { asGiven } from '../dropped';
import type { Given } from '../dropped';

interface PickerProps {
  label: string;
  kind: 'primary' | 'quiet';
  /** Asks for a folder and gives all files in it. */
  folder?: boolean;
  describedBy?: string;
  accept?: string;
  onPick(given: Given[]): void;
}

export function Picker({ label, kind, folder = false, describedBy, accept, onPick }: PickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={kind} aria-describedby={describedBy} onClick={() => input.current!.click()}>
        {label}
      </button>
      <input
        ref={input} type="file" multiple hidden aria-label={label} accept={accept} {...(folder && { webkitdirectory: true })}
        onChange={({ currentTarget }) => {
          onPick(asGiven(currentTarget.files!));
          currentTarget.value = '';
        }}
      />
    </>
  );
}
