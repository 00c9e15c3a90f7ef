// A cell of an output-stationary array: it adds up one result, and hands both operands on.
// control: {take, shift, first, busy}, which move right with the operand. See ../registers.py.
module pe_os #(
    parameter SECOND = 0  // a second accumulator: results leave while the next fold is computed
) (
    input clk,
    input signed [31:0] right_in, down_in, chain_in,
    input [3:0] control_in,
    output signed [31:0] right_out, down_out, chain_out,
    output [3:0] control_out
);
    reg signed [7:0] right = 0, down = 0;
    reg signed [31:0] stay = 0, spare = 0;
    reg [3:0] control = 0;
    wire busy = control_in[0], first = control_in[1], shift = control_in[2], take = control_in[3];

    assign right_out = right;
    assign down_out = down;
    assign control_out = control;
    assign chain_out = SECOND ? spare : stay;

    always @(posedge clk) begin
        right <= right_in;
        down <= down_in;
        control <= control_in;
        if (busy) stay <= (first ? 0 : stay) + right_in * down_in;
        if (SECOND) begin
            if (take) spare <= stay;
            else if (shift) spare <= chain_in;
        end else if (shift) stay <= chain_in;
    end
endmodule
