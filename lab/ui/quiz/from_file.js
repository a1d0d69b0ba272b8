// Reads a progress file in the browser and sends its text, if it may be one by its size: the server takes no uploads.

/** `data`: the most bytes that a progress file may have. Sends [a name for this choice, the file's bytes, its text]. */
export default function ({ data, parentElement, setTriggerValue }) {
  const input = parentElement.querySelector("input");
  input.onchange = async () => {
    const file = input.files[0];
    input.value = ""; // the same file may be chosen again
    if (!file) return;
    const text = file.size > data.most ? "" : await file.text();
    setTriggerValue("file", [`${Date.now()}.${Math.random()}`, file.size, text]);
  };
}
